-- The vectors of the memories that some events gave, by what they say.
SELECT m.fact, e.embedding::text AS vector
  FROM engram.agent_memory m
  JOIN engram.memory_embeddings e
    ON e.tenant_id = m.tenant_id AND e.scope_id = m.scope_id AND e.model_id = %(model_id)s AND e.memory_id = m.memory_id
 WHERE m.tenant_id = %(tenant_id)s AND m.scope_id = %(scope_id)s AND m.event_id = ANY(%(event_ids)s::uuid[])
