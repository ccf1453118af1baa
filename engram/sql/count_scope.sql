-- Counts of what some scopes hold and show: not private memories of others, what was decided of them, the events that speak of them,
-- relate them or end their sessions, nor the events of runs that were forgotten.
WITH secret AS MATERIALIZED (
  SELECT m.memory_id
    FROM engram.agent_memory m
   WHERE m.tenant_id = %(tenant_id)s AND m.scope_id = ANY(%(scope_ids)s) AND m.private AND m.scope_id IS DISTINCT FROM %(own)s),
unseen AS (
  SELECT e.event_id
    FROM secret s
    JOIN engram.memory_changes c ON c.tenant_id = %(tenant_id)s AND c.memory_id = s.memory_id
    JOIN engram.agent_events e ON e.tenant_id = %(tenant_id)s AND e.event_id = c.event_id AND e.scope_id = ANY(%(scope_ids)s)
   UNION
  SELECT e.event_id
    FROM engram.memory_changes c
    JOIN engram.agent_events e ON e.tenant_id = %(tenant_id)s AND e.event_id = c.event_id AND e.scope_id = ANY(%(scope_ids)s)
   WHERE c.tenant_id = %(tenant_id)s AND c.scope_id = ANY(array_remove(%(scope_ids)s::bigint[], %(own)s::bigint))
     AND c.decision->'private' = 'true'
   UNION
  SELECT e.event_id
    FROM secret s
   CROSS JOIN LATERAL (
         SELECT r.event_id FROM engram.relation_changes r WHERE r.tenant_id = %(tenant_id)s AND r.source_id = s.memory_id
          UNION ALL
         SELECT r.event_id FROM engram.relation_changes r WHERE r.tenant_id = %(tenant_id)s AND r.target_id = s.memory_id) r
    JOIN engram.agent_events e ON e.tenant_id = %(tenant_id)s AND e.event_id = r.event_id AND e.scope_id = ANY(%(scope_ids)s)
   UNION
  SELECT e.event_id
    FROM engram.agent_events e
   WHERE e.tenant_id = %(tenant_id)s AND e.scope_id = ANY(array_remove(%(scope_ids)s::bigint[], %(own)s::bigint))
     AND e.event_type = 'session_ended' AND engram.holds_private(e.tenant_id, e.scope_id, e.session_id, NULL)
   UNION
  SELECT e.event_id
    FROM engram.agent_task_runs h
    JOIN engram.agent_events e ON e.tenant_id = %(tenant_id)s AND e.task_run_id = h.task_run_id AND e.scope_id = ANY(%(scope_ids)s)
   WHERE h.tenant_id = %(tenant_id)s AND h.scope_id = ANY(%(scope_ids)s) AND h.forgotten_at IS NOT NULL),
held AS MATERIALIZED (
  SELECT m.memory_id, m.status, m.memory_type, m.layer, m.critical_slot, m.embed_state, m.recorded_at
    FROM engram.agent_memory m
   WHERE m.tenant_id = %(tenant_id)s AND m.scope_id = ANY(%(scope_ids)s) AND (NOT m.private OR m.scope_id = %(own)s)),
decided AS (
  SELECT c.decision->>'kind' AS kind, count(*) AS times
    FROM engram.memory_changes c
   WHERE c.tenant_id = %(tenant_id)s AND c.scope_id = ANY(%(scope_ids)s) AND c.decision IS NOT NULL
     AND NOT EXISTS (SELECT FROM secret s WHERE s.memory_id = c.memory_id)
     AND (c.decision->'private' = 'true' AND c.scope_id IS DISTINCT FROM %(own)s) IS NOT TRUE
   GROUP BY 1)
SELECT (SELECT count(*) FROM engram.agent_events e WHERE e.tenant_id = %(tenant_id)s AND e.scope_id = ANY(%(scope_ids)s))
         - (SELECT count(*) FROM unseen) AS events,
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
