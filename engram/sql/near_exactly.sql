-- The memories nearest one of a batch, exactly: every vector of the scope is compared.
SELECT e.memory_id, 1 - (e.embedding <=> a.embedding) AS cosine
  FROM engram.memory_embeddings e
 WHERE e.tenant_id = %(tenant_id)s AND e.scope_id = %(scope_id)s AND e.model_id = %(model_id)s AND e.memory_id <> a.memory_id
 ORDER BY e.embedding <=> a.embedding
 LIMIT %(near)s
