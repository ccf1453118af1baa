-- Which of some memories are private to other scopes than some.
SELECT m.memory_id::text
  FROM engram.agent_memory m
 WHERE m.tenant_id = %(tenant_id)s AND m.memory_id = ANY(%(memory_ids)s::uuid[]) AND m.private AND m.scope_id <> ALL(%(own_ids)s)
