-- Counts of what some scopes hold.
WITH held AS MATERIALIZED (
  SELECT m.memory_id, m.status, m.memory_type, m.layer, m.critical_slot, m.embed_state, m.recorded_at
    FROM engram.agent_memory m
   WHERE m.tenant_id = %(tenant_id)s AND m.scope_id = ANY(%(scope_ids)s) AND (NOT m.private OR m.scope_id = %(own)s)),
decided AS (
  SELECT c.decision->>'kind' AS kind, count(*) AS times
    FROM engram.memory_changes c
   WHERE c.tenant_id = %(tenant_id)s AND c.scope_id = ANY(%(scope_ids)s) AND c.decision IS NOT NULL
   GROUP BY 1)
SELECT (SELECT count(*) FROM engram.agent_events e WHERE e.tenant_id = %(tenant_id)s AND e.scope_id = ANY(%(scope_ids)s)) AS events,
       (SELECT count(*) FROM held) AS memories,
       (SELECT coalesce(jsonb_object_agg(status, n), '{}') FROM (SELECT status, count(*) AS n FROM held GROUP BY 1) s) AS by_status,
       (SELECT coalesce(jsonb_object_agg(memory_type, n), '{}')
          FROM (SELECT memory_type, count(*) AS n FROM held WHERE status = 'active' GROUP BY 1) t) AS by_type,
       (SELECT coalesce(jsonb_object_agg(layer, n), '{}')
          FROM (SELECT layer, count(*) AS n FROM held WHERE status = 'active' GROUP BY 1) l) AS by_layer,
       (SELECT count(*) FROM held WHERE status = 'active' AND critical_slot IS NOT NULL) AS critical,
       (SELECT count(*) FROM held WHERE embed_state = 'pending') AS unembedded,
       (SELECT coalesce(sum(times), 0)::bigint FROM decided WHERE kind = 'reinforce') AS duplicates_avoided,
       (SELECT coalesce(jsonb_object_agg(kind, times), '{}') FROM decided) AS decisions,
       (SELECT min(recorded_at) FROM held) AS oldest,
       (SELECT max(recorded_at) FROM held) AS last_write,
       pg_database_size(current_database()) AS size_bytes
