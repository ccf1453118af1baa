-- The nearest memories, as far as a search reaches: more than its channel is to bring.
near_reached AS MATERIALIZED (
  SELECT n.memory_id, n.cosine
    FROM (SELECT DISTINCT v.memory_id, v.cosine
            FROM engram.near_vectors(%(tenant_id)s, %(scope_ids)s::bigint[], %(graphed)s::bigint[], %(model_id)s, %(vector)s::halfvec,
                   %(reach)s) v) n
   ORDER BY n.cosine DESC, n.memory_id
   LIMIT %(reach)s)
