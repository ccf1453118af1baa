-- The scope of each of some memories.
SELECT m.memory_id::text, m.scope_id
  FROM engram.agent_memory m
 WHERE m.tenant_id = %(tenant_id)s AND m.memory_id = ANY(%(memory_ids)s::uuid[])
