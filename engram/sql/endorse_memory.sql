-- Trust a memory as whoever vouches for it, where that is better than it was trusted before.
UPDATE engram.agent_memory
   SET trust = least(trust, %(trust)s)
 WHERE tenant_id = %(tenant_id)s AND memory_id = %(memory_id)s::uuid
