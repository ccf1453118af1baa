-- The cosine of memories that another channel found.
SELECT e.memory_id::text, 1 - (e.embedding <=> %(vector)s::halfvec) AS cosine
  FROM engram.memory_embeddings e
 WHERE e.tenant_id = %(tenant_id)s AND e.scope_id = ANY(%(scope_ids)s) AND e.model_id = %(model_id)s
   AND e.memory_id = ANY(%(memory_ids)s::uuid[])
