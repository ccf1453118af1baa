-- Note the memories of a scope that have no vector of a model being built.
INSERT INTO engram.embedding_backlog (tenant_id, model_id, memory_id)
SELECT m.tenant_id, %(model_id)s, m.memory_id
  FROM engram.agent_memory m
 WHERE m.tenant_id = %(tenant_id)s AND m.scope_id = %(scope_id)s AND m.fact <> ''
   AND NOT EXISTS (
       SELECT FROM engram.memory_embeddings e
        WHERE e.tenant_id = m.tenant_id AND e.scope_id = m.scope_id AND e.model_id = %(model_id)s AND e.memory_id = m.memory_id)
    ON CONFLICT DO NOTHING
