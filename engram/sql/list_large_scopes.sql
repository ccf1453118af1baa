-- The scopes in which a model has so many vectors that a search should walk a graph.
SELECT e.scope_id
  FROM engram.memory_embeddings e
 WHERE e.tenant_id = %(tenant_id)s AND e.scope_id = ANY(%(scope_ids)s) AND e.model_id = %(model_id)s
 GROUP BY e.scope_id
HAVING count(*) > %(large)s
 ORDER BY e.scope_id
