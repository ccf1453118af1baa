-- Memories without a vector of a model, after some memory, in the order of their ids.
SELECT m.memory_id::text, m.scope_id, m.fact
  FROM engram.agent_memory m
 WHERE m.tenant_id = %(tenant_id)s AND m.memory_id > %(after)s::uuid AND m.fact <> ''
   AND NOT EXISTS (
       SELECT FROM engram.memory_embeddings e
        WHERE e.tenant_id = m.tenant_id AND e.scope_id = m.scope_id AND e.model_id = %(model_id)s AND e.memory_id = m.memory_id)
 ORDER BY m.memory_id
 LIMIT %(limit)s
