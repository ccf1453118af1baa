-- The memories nearest a vector in large scopes: the graph of the default model for the rows that are in it, and exactly the
-- rows that are not yet, and the small scopes read beside them.
WITH indexed AS (
  SELECT g.memory_id, g.distance
    FROM unnest(%(graphed)s::bigint[]) s(scope_id)
   CROSS JOIN LATERAL (
         SELECT e.memory_id, e.embedding::halfvec(256) <=> %(vector)s::halfvec(256) AS distance
           FROM engram.memory_embeddings e
          WHERE e.tenant_id = %(tenant_id)s AND e.scope_id = s.scope_id AND e.model_id = %(model_id)s AND e.indexed
          ORDER BY e.embedding::halfvec(256) <=> %(vector)s::halfvec(256)
          LIMIT %(limit)s) g),
fresh AS (
  SELECT e.memory_id, e.embedding <=> %(vector)s::halfvec AS distance
    FROM engram.memory_embeddings e
   WHERE e.tenant_id = %(tenant_id)s AND e.scope_id = ANY(%(scope_ids)s) AND e.model_id = %(model_id)s AND NOT e.indexed
   ORDER BY e.embedding <=> %(vector)s::halfvec
   LIMIT %(limit)s)
SELECT n.memory_id::text, 1 - n.distance AS cosine
  FROM (SELECT i.memory_id, i.distance FROM indexed i UNION ALL SELECT f.memory_id, f.distance FROM fresh f) n
 ORDER BY n.distance, n.memory_id
 LIMIT %(limit)s
