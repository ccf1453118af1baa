-- Put some of a scope's fresh vectors into the graph. They are named one by one: joined, a scope without statistics would be
-- compared with them row by row.
WITH chosen AS MATERIALIZED (
  SELECT e.memory_id FROM engram.memory_embeddings e
   WHERE e.tenant_id = %(tenant_id)s AND e.scope_id = %(scope_id)s AND e.model_id = %(model_id)s AND NOT e.indexed
   ORDER BY e.memory_id LIMIT %(batch)s
     FOR UPDATE SKIP LOCKED)
UPDATE engram.memory_embeddings e SET indexed = true
 WHERE e.tenant_id = %(tenant_id)s AND e.scope_id = %(scope_id)s AND e.model_id = %(model_id)s
   AND e.memory_id = ANY(ARRAY(SELECT c.memory_id FROM chosen c))
