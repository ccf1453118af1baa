-- Which of some events speak of private memories of other scopes than the reader's own, relate them to others, end a session that holds
-- some, whose summary they say, or speak of what was refused and was to be one: these are not shown either.
SELECT c.event_id::text
  FROM engram.memory_changes c
  LEFT JOIN engram.agent_memory m ON m.tenant_id = c.tenant_id AND m.memory_id = c.memory_id
 WHERE c.tenant_id = %(tenant_id)s AND c.event_id = ANY(%(event_ids)s::uuid[])
   AND (m.private OR c.decision->'private' = 'true') AND coalesce(m.scope_id, c.scope_id) IS DISTINCT FROM %(own)s
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
   AND e.scope_id IS DISTINCT FROM %(own)s AND engram.holds_private(e.tenant_id, e.scope_id, e.session_id, NULL)
