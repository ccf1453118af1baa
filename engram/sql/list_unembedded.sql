-- The memories of a scope that wait for a vector.
SELECT memory_id::text, fact
  FROM engram.agent_memory
 WHERE tenant_id = %(tenant_id)s AND scope_id = %(scope_id)s AND embed_state = 'pending' AND memory_id > %(after)s::uuid
 ORDER BY memory_id
 LIMIT %(limit)s
