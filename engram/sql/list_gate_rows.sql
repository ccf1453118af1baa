-- What the gates need to know of candidates, in their order: the exact twins of each, the head and lineage of its key, and how many
-- rows share its type.
WITH alike AS MATERIALIZED (
  SELECT t.memory_type, (
         SELECT count(*) FROM (
           SELECT 1 FROM engram.agent_memory m
            WHERE m.tenant_id = %(tenant_id)s AND m.scope_id = %(scope_id)s AND m.memory_type = t.memory_type
              AND m.status = 'active' AND coalesce(m.category, '') NOT IN ('verbatim', 'source_chunk') LIMIT %(most)s) AS rows) AS same_type
    FROM unnest(%(types)s::text[]) AS t (memory_type))
SELECT (SELECT jsonb_agg(jsonb_build_object('memory_id', m.memory_id, 'conflict_key', m.conflict_key, 'valid_from', m.valid_from,
                                            'trust', m.trust))
          FROM engram.agent_memory m
         WHERE m.tenant_id = %(tenant_id)s AND m.scope_id = %(scope_id)s AND m.fact_hash = w.fact_hash AND m.status = 'active'
           AND (m.expires_at IS NULL OR m.expires_at > coalesce(w.at, clock_timestamp()))
           AND (m.ended_at IS NULL OR m.ended_at > coalesce(w.at, clock_timestamp())) AND m.private = w.private
           AND coalesce(m.category, '') NOT IN ('verbatim', 'source_chunk')) AS exact,
       (SELECT jsonb_build_object('memory_id', m.memory_id, 'fact', m.fact, 'trust', m.trust, 'importance', m.importance,
                                  'gone', coalesce(m.ended_at <= coalesce(w.at, clock_timestamp()), false)
                                       OR coalesce(m.expires_at <= coalesce(w.at, clock_timestamp()), false))
          FROM engram.agent_memory m
         WHERE m.tenant_id = %(tenant_id)s AND m.scope_id = %(scope_id)s AND m.conflict_key = w.conflict_key
           AND m.status = 'active' AND NOT m.moot) AS head,
       (SELECT m.lineage_id::text FROM engram.agent_memory m
         WHERE m.tenant_id = %(tenant_id)s AND m.scope_id = %(scope_id)s AND m.conflict_key = w.conflict_key
           AND m.status <> 'quarantined' LIMIT 1) AS lineage_id,
       alike.same_type
  FROM unnest(%(fact_hashes)s::bytea[], %(conflict_keys)s::text[], %(memory_types)s::text[], %(privates)s::boolean[],
              %(nows)s::timestamptz[])
       WITH ORDINALITY AS w (fact_hash, conflict_key, memory_type, private, at, place)
  JOIN alike ON alike.memory_type = w.memory_type
 ORDER BY w.place
