-- The memories nearest a vector, exactly: every vector of the scopes is compared.
SELECT e.memory_id, 1 - (e.embedding <=> %(vector)s::halfvec) AS cosine
  FROM engram.memory_embeddings e
 WHERE e.tenant_id = %(tenant_id)s AND e.scope_id = ANY(%(scope_ids)s) AND e.model_id = %(model_id)s
   /*among*/
 ORDER BY e.embedding <=> %(vector)s::halfvec, e.memory_id
 LIMIT %(limit)s
