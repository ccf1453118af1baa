-- A block of the vectors of a scope, in the order of their memories: the ids, and the vectors one behind the other as the server sends
-- them. None of a scope with a graph that has at least so many: then it is `graphed`, and its graph is asked instead.
WITH way AS MATERIALIZED (
  SELECT CASE WHEN %(after)s::uuid IS NULL AND EXISTS (
           SELECT FROM engram.memory_graphs g
            WHERE g.tenant_id = %(tenant_id)s AND g.scope_id = %(scope_id)s AND g.model_id = %(model_id)s)
         THEN coalesce((SELECT t.df FROM engram.memory_terms t
                         WHERE t.tenant_id = %(tenant_id)s AND t.scope_id = %(scope_id)s AND t.term = ''),
                (SELECT count(*)
                   FROM (SELECT FROM engram.memory_embeddings e
                          WHERE e.tenant_id = %(tenant_id)s AND e.scope_id = %(scope_id)s AND e.model_id = %(model_id)s
                          LIMIT %(least)s) AS c)) >= %(least)s
         ELSE false END AS graphed)
SELECT (SELECT w.graphed FROM way w) AS graphed,
       array_agg(b.memory_id::text ORDER BY b.memory_id) AS memory_ids,
       string_agg(halfvec_send(b.embedding), ''::bytea ORDER BY b.memory_id) AS vectors
  FROM (SELECT e.memory_id, e.embedding
          FROM engram.memory_embeddings e
         WHERE e.tenant_id = %(tenant_id)s AND e.scope_id = %(scope_id)s AND e.model_id = %(model_id)s
           AND (%(after)s::uuid IS NULL OR e.memory_id > %(after)s::uuid) AND NOT (SELECT w.graphed FROM way w)
         ORDER BY e.memory_id
         LIMIT %(most)s) AS b
