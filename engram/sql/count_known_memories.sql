-- How many of some memories a scope holds.
SELECT count(*)
  FROM engram.agent_memory m
 WHERE m.tenant_id = %(tenant_id)s AND m.scope_id = %(scope_id)s AND m.memory_id = ANY(%(memory_ids)s::uuid[])
