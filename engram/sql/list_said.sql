-- What some memories say, for the names of their topics.
SELECT m.memory_id::text, m.event_id::text, left(m.fact, 2000) AS fact, m.trust, m.private, m.memory_type
  FROM engram.agent_memory m
 WHERE m.tenant_id = %(tenant_id)s AND m.scope_id = %(scope_id)s AND m.memory_id = ANY(%(memory_ids)s::uuid[]) AND /*placed*/
