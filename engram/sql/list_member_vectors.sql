-- The vectors of some memories of a scope, by the model in use.
SELECT e.memory_id::text, halfvec_send(e.embedding) AS vector, d.thresholds
  FROM engram.memory_embeddings e
  JOIN engram.embedding_models d ON d.tenant_id = e.tenant_id AND d.model_id = e.model_id AND d.state = 'active'
 WHERE e.tenant_id = %(tenant_id)s AND e.scope_id = %(scope_id)s AND e.memory_id = ANY(%(memory_ids)s::uuid[])
 ORDER BY e.memory_id
