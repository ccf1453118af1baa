-- The events that still say something which the life cycle made of the memories of an event: `made` are those of summaries of them,
-- the others changed them. And what people did with them: put away, brought back, ended, related.
WITH gone AS (
  SELECT m.memory_id FROM engram.agent_memory m
   WHERE m.tenant_id = %(tenant_id)s
     AND (m.event_id = %(event_id)s::uuid OR m.event_id = ANY (%(beside)s::uuid[]) AND m.deriver = 'llm')),
made AS (
  SELECT d.event_id FROM engram.relation_changes r
    JOIN gone ON gone.memory_id = r.target_id
    JOIN engram.agent_memory d ON d.tenant_id = r.tenant_id AND d.memory_id = r.source_id
   WHERE r.tenant_id = %(tenant_id)s AND r.relation_type = 'derived_from'
   UNION
  SELECT d.event_id FROM engram.relation_changes r
    JOIN gone ON gone.memory_id = r.source_id
    JOIN engram.agent_memory d ON d.tenant_id = r.tenant_id AND d.memory_id = r.target_id
   WHERE r.tenant_id = %(tenant_id)s AND r.relation_type = 'summarized_by'),
named AS (
  SELECT event_id, true AS made FROM made
   UNION ALL
  SELECT c.event_id, false FROM engram.memory_changes c JOIN gone ON gone.memory_id = c.memory_id
    JOIN engram.agent_events x ON x.tenant_id = c.tenant_id AND x.event_id = c.event_id
   WHERE c.tenant_id = %(tenant_id)s
     AND (x.event_type = %(lifecycle)s OR c.entry IN ('forgotten', 'restored', 'ended') AND x.event_type LIKE 'memory\_%%')
   UNION ALL
  SELECT r.event_id, false FROM engram.relation_changes r
    JOIN engram.agent_events x ON x.tenant_id = r.tenant_id AND x.event_id = r.event_id
     AND (x.event_type = %(lifecycle)s OR x.event_type = ANY (%(relating)s))
   WHERE r.tenant_id = %(tenant_id)s
     AND (r.source_id IN (SELECT gone.memory_id FROM gone) OR r.target_id IN (SELECT gone.memory_id FROM gone)))
SELECT e.tenant_id, e.stream_id, e.position, e.event_id, e.scope_id, e.role, e.event_type, e.trust, e.occurred_at, e.recorded_at,
       e.session_id, e.task_run_id, e.actor, e.idempotency_key, e.hash, p.body, n.made
  FROM (SELECT event_id, bool_or(made) AS made FROM named GROUP BY event_id) n
  JOIN engram.agent_events e ON e.tenant_id = %(tenant_id)s AND e.event_id = n.event_id
  JOIN engram.agent_event_payloads p ON p.tenant_id = e.tenant_id AND p.stream_id = e.stream_id AND p.position = e.position
 WHERE e.event_id <> %(event_id)s::uuid AND (e.event_type = %(lifecycle)s OR NOT n.made)
 ORDER BY e.recorded_at, e.event_id
