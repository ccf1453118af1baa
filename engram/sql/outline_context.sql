-- What a context begins and ends with, in a row of its own, and then its pinned memories and decisions, whole. The server keeps the plans.
WITH o AS MATERIALIZED (
  SELECT o.critical, o.decisions, o.trees, o.topics, o.actions
    FROM engram.outline_context(
           %(tenant_id)s, %(scope_ids)s::bigint[], %(own)s, %(order)s::text[], %(decisions)s, %(topics)s, %(counted)s,
           %(evidence)s::text[], %(actions)s) o)
SELECT o.critical::text[], o.decisions::text[], o.trees, o.topics, o.actions, (NULL::engram.whole_memory).*
  FROM o
 UNION ALL
SELECT NULL, NULL, NULL, NULL, NULL, m.*
  FROM o
 CROSS JOIN LATERAL engram.whole_memories(%(tenant_id)s, %(scope_ids)s::bigint[], %(own)s, o.critical || o.decisions) m
