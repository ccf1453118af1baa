-- The memories of a large scope nearest one of a batch, through the graph of the model; then those that are not in it yet. The number
-- stands for the dimensions of the model, which are written in its place.
(SELECT e.memory_id, 1 - (e.embedding::halfvec(256) <=> a.embedding::halfvec(256)) AS cosine
   FROM engram.memory_embeddings e
  WHERE e.tenant_id = %(tenant_id)s AND e.scope_id = %(scope_id)s AND e.model_id = %(model_id)s AND e.indexed
    AND e.memory_id <> a.memory_id
  ORDER BY e.embedding::halfvec(256) <=> a.embedding::halfvec(256)
  LIMIT %(near)s)
 UNION ALL
(SELECT e.memory_id, 1 - (e.embedding <=> a.embedding) AS cosine
   FROM engram.memory_embeddings e
  WHERE e.tenant_id = %(tenant_id)s AND e.scope_id = %(scope_id)s AND e.model_id = %(model_id)s AND NOT e.indexed
    AND e.memory_id <> a.memory_id
  ORDER BY e.embedding <=> a.embedding
  LIMIT %(near)s)
