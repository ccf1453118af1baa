-- Raise a memory's importance, at most to 1.
UPDATE engram.agent_memory
   SET importance = least(1, importance + %(amount)s)
 WHERE tenant_id = %(tenant_id)s AND memory_id = %(memory_id)s::uuid
