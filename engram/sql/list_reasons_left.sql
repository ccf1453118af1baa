-- The events that gave a reason for what they did with memories which are erased, and stay, for they say a fact of their own: revisions
-- in full, what superseded by name or said the same again, and what was refused because of these memories. The reason may quote them.
WITH gone AS (
  SELECT m.memory_id, m.scope_id FROM engram.agent_memory m
   WHERE m.tenant_id = %(tenant_id)s AND m.status_reason = 'erased'
     AND (m.memory_id = ANY (%(memories)s::uuid[]) OR m.event_id = ANY (%(events)s::uuid[]))),
named AS (
  SELECT c.event_id FROM engram.memory_changes c
   WHERE c.tenant_id = %(tenant_id)s AND c.memory_id IN (SELECT gone.memory_id FROM gone)
   UNION
  SELECT r.event_id FROM engram.relation_changes r
   WHERE r.tenant_id = %(tenant_id)s AND r.target_id IN (SELECT gone.memory_id FROM gone)
   UNION
  SELECT c.event_id FROM engram.memory_changes c
   WHERE c.tenant_id = %(tenant_id)s AND c.scope_id IN (SELECT gone.scope_id FROM gone) AND c.memory_id IS NULL
     AND c.decision ->> 'target_id' IN (SELECT gone.memory_id::text FROM gone))
SELECT e.event_id::text
  FROM named
  JOIN engram.agent_events e ON e.tenant_id = %(tenant_id)s AND e.event_id = named.event_id
   AND e.event_type LIKE 'memory\_%%' AND e.event_type <> %(lifecycle)s
  JOIN engram.agent_event_payloads p ON p.tenant_id = e.tenant_id AND p.stream_id = e.stream_id AND p.position = e.position
 WHERE convert_from(p.body, 'UTF8')::jsonb #>> '{payload,reason}' IS NOT NULL
 ORDER BY e.recorded_at, e.event_id
