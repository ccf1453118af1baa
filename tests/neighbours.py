"""One user's rows many times over, as those of other users of the tenant and of other tenants: quickly many of both.

Every id is another one in each copy, and stands for the same thing throughout it. What a copy says is what was said.
"""

from __future__ import annotations

from typing import Any, Final

import psycopg

MADE: Final = """
    CREATE FUNCTION pg_temp.other_id(id uuid, n bigint) RETURNS uuid LANGUAGE sql IMMUTABLE AS $$
      SELECT (left(id::text, 14) || '7' || substr(h, 1, 3) || '-8' || substr(h, 4, 3) || '-' || substr(h, 7, 12))::uuid
        FROM md5(id::text || n) h $$;
    CREATE FUNCTION pg_temp.other_scope(id bigint, n bigint) RETURNS bigint LANGUAGE sql IMMUTABLE AS $$
      SELECT id + 1000000 * n $$
"""
# How the rows of tables without a scope are found by those of others that have one.
BY: Final = {
    **dict.fromkeys(("agent_event_payloads", "derivations"), ("event_streams", "stream_id", "stream_id")),
    "llm_call_events": ("agent_events", "event_id", "event_id"),
    **dict.fromkeys(("memory_relations", "relation_changes"), ("agent_memory", "memory_id", "source_id")),
    "memory_sources": ("agent_memory", "memory_id", "memory_id"),
}
OF_TENANTS: Final = frozenset({"embedding_models", "text_search_configs"})
LEFT_OUT: Final = frozenset({
    "cycle_looks", "embedding_backlog", "job_turns", "llm_budgets", "replay_steps", "memory_replays", "turns",
})  # fmt: skip
COLUMNS: Final = """
    SELECT c.relname, array_agg(a.attname ORDER BY a.attnum), array_agg(format_type(a.atttypid, NULL) ORDER BY a.attnum)
      FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
     WHERE c.relnamespace = 'engram'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
       AND a.attgenerated = '' GROUP BY c.relname HAVING 'tenant_id' = ANY (array_agg(a.attname)) ORDER BY c.relname
"""


def add(conn: psycopg.Connection[Any], tenant: str, user: str, numbers: range, *, tenants: bool) -> None:
    """Copy a user's scope, with its shelf, once a number: into the same tenant, or each copy into one of its own."""
    scopes = [row[0] for row in conn.execute(
        "SELECT s.scope_id FROM engram.memory_scopes s JOIN engram.memory_scopes o USING (tenant_id)"
        " WHERE s.tenant_id = %s AND o.user_id = %s AND o.shelf_of IS NULL AND o.scope_id IN (s.scope_id, s.shelf_of)",
        (tenant, user),
    )]  # fmt: skip
    with conn.transaction():
        conn.execute("SET LOCAL session_replication_role = replica")
        conn.execute(MADE)
        for table, names, types in conn.execute(COLUMNS).fetchall():
            if table in LEFT_OUT or (table in OF_TENANTS and not tenants):
                continue
            chosen = [_made(table, name, kind, tenants) for name, kind in zip(names, types, strict=True)]
            conn.execute(
                f"INSERT INTO engram.{table} ({', '.join(names)}) OVERRIDING SYSTEM VALUE SELECT {', '.join(chosen)}"  # type: ignore[arg-type]
                f" FROM engram.{table} x, generate_series(%(first)s::bigint, %(last)s) g (n)"
                f" WHERE x.tenant_id = %(tenant)s AND {_whose(table, names)}",
                {"tenant": tenant, "scopes": scopes, "first": numbers[0], "last": numbers[-1]},
            )
        conn.execute("DROP FUNCTION pg_temp.other_id, pg_temp.other_scope")


def _whose(table: str, names: list[str]) -> str:
    if table in OF_TENANTS:
        return "true"
    if "scope_id" in names:
        return "x.scope_id = ANY (%(scopes)s)"
    other, key, own = BY[table]
    return (
        f"x.{own} IN (SELECT o.{key} FROM engram.{other} o WHERE o.tenant_id = %(tenant)s"
        " AND o.scope_id = ANY (%(scopes)s))"
    )


def _made(table: str, name: str, kind: str, tenants: bool) -> str:
    """What stands in a column of a copy. Pure."""
    made = {
        "tenant_id": "x.tenant_id || '-' || g.n" if tenants else "x.tenant_id",
        "user_id": "x.user_id" if tenants else "x.user_id || '-' || g.n",
        "change_id": f"nextval(pg_get_serial_sequence('engram.{table}', 'change_id'))",
        "lexemes": "replace(x.lexemes::text, x.scope_id || ':', pg_temp.other_scope(x.scope_id, g.n) || ':')::tsvector",
        **dict.fromkeys(("scope_id", "shelf_of", "shadow_of"), f"pg_temp.other_scope(x.{name}, g.n)"),
        **dict.fromkeys(("dedup_key", "call_key"), f"sha256(convert_to(x.{name}::text || g.n, 'UTF8'))"),
        "scope_ids": "ARRAY(SELECT pg_temp.other_scope(i, g.n) FROM unnest(x.scope_ids) i)",
    }
    if name in made:
        return made[name]
    if kind == "uuid":
        return f"pg_temp.other_id(x.{name}, g.n)"
    if kind == "uuid[]":
        return f"CASE WHEN x.{name} IS NOT NULL THEN ARRAY(SELECT pg_temp.other_id(i, g.n) FROM unnest(x.{name}) i) END"
    return f"x.{name}"
