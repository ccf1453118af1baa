-- Which of some events speak of private memories of other scopes than the reader's own, relate them to others, end a session that holds
-- some, whose summary they say, or speak of what was refused and was to be one: these are not shown either.
SELECT c.event_id::text
  FROM engram.memory_changes c
  LEFT JOIN engram.agent_memory m ON m.tenant_id = c.tenant_id AND m.memory_id = c.memory_id
 WHERE c.tenant_id = %(tenant_id)s AND c.event_id = ANY(%(event_ids)s::uuid[])
   AND coalesce(m.private, c.decision->'private' = 'true') AND coalesce(m.scope_id, c.scope_id) IS DISTINCT FROM %(own)s
UNION
SELECT r.event_id::text
  FROM engram.relation_changes r
  JOIN engram.agent_memory m ON m.tenant_id = r.tenant_id AND m.memory_id IN (r.source_id, r.target_id)
 WHERE r.tenant_id = %(tenant_id)s AND r.event_id = ANY(%(event_ids)s::uuid[])
   AND m.private AND m.scope_id IS DISTINCT FROM %(own)s
UNION
SELECT e.event_id::text
  FROM engram.agent_events e
 WHERE e.tenant_id = %(tenant_id)s AND e.event_id = ANY(%(event_ids)s::uuid[]) AND e.event_type = 'session_ended'
   AND e.scope_id IS DISTINCT FROM %(own)s AND (
       EXISTS (
           SELECT FROM engram.agent_memory m
            WHERE m.tenant_id = e.tenant_id AND m.scope_id = e.scope_id AND m.session_id = e.session_id AND m.private)
       OR EXISTS (
           SELECT FROM engram.agent_events o
             JOIN engram.memory_changes d ON d.tenant_id = o.tenant_id AND d.event_id = o.event_id
            WHERE o.tenant_id = e.tenant_id AND o.stream_id = e.stream_id AND d.decision->'private' = 'true'))
