-- Put some of a scope's fresh vectors into the graph.
WITH chosen AS (
  SELECT e.memory_id FROM engram.memory_embeddings e
   WHERE e.tenant_id = %(tenant_id)s AND e.scope_id = %(scope_id)s AND e.model_id = %(model_id)s AND NOT e.indexed
   ORDER BY e.memory_id LIMIT %(batch)s
     FOR UPDATE SKIP LOCKED)
UPDATE engram.memory_embeddings e SET indexed = true
  FROM chosen
 WHERE e.tenant_id = %(tenant_id)s AND e.scope_id = %(scope_id)s AND e.model_id = %(model_id)s AND e.memory_id = chosen.memory_id
