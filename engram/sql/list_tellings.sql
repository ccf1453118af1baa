-- Where in its conversations a memory was told, or told again: the events that its changes speak of, of the kinds that are said.
SELECT DISTINCT e.stream_id::text, e.position
  FROM engram.memory_changes c
  JOIN engram.agent_events e ON e.tenant_id = c.tenant_id AND e.event_id = c.event_id
 WHERE c.tenant_id = %(tenant_id)s AND c.memory_id = %(memory_id)s::uuid AND e.event_type = ANY(%(spoken)s)
 ORDER BY 1, 2
