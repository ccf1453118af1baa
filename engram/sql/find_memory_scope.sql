-- The scope that holds a memory.
SELECT m.scope_id FROM engram.agent_memory m WHERE m.tenant_id = %(tenant_id)s AND m.memory_id = %(memory_id)s::uuid
