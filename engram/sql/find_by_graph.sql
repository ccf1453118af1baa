-- The memories of one large scope nearest a vector, through the graph of its model; what is not in it yet is elsewhere. The
-- number stands for the dimensions of the model, which are written in its place.
SELECT e.memory_id, 1 - (e.embedding::halfvec(256) <=> %(vector)s::halfvec(256)) AS cosine
  FROM engram.memory_embeddings e
 WHERE e.tenant_id = %(tenant_id)s AND e.scope_id = %(scope_id)s AND e.model_id = %(model_id)s AND e.indexed
 ORDER BY e.embedding::halfvec(256) <=> %(vector)s::halfvec(256)
 LIMIT %(limit)s
