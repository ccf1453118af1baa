-- A block of the vectors of a scope, in the order of their memories: the ids, and the vectors one behind the other as the server sends
-- them.
SELECT array_agg(b.memory_id::text ORDER BY b.memory_id) AS memory_ids,
       string_agg(halfvec_send(b.embedding), ''::bytea ORDER BY b.memory_id) AS vectors
  FROM (SELECT e.memory_id, e.embedding
          FROM engram.memory_embeddings e
         WHERE e.tenant_id = %(tenant_id)s AND e.scope_id = %(scope_id)s AND e.model_id = %(model_id)s
           AND (%(after)s::uuid IS NULL OR e.memory_id > %(after)s::uuid)
         ORDER BY e.memory_id
         LIMIT %(most)s) AS b
