-- The semantic channel of a search with a filter or a period: of the nearest those that fit; or of all that fit the nearest, few of them
-- by their keys.
few AS MATERIALIZED (
  SELECT array_agg(a.memory_id) AS memory_ids, count(*) <= %(few)s AS by_key FROM all_fitting a HAVING (SELECT s.whole FROM sparse s)),
semantic AS MATERIALIZED (
  SELECT v.memory_id, v.cosine
    FROM (SELECT n.memory_id, n.cosine FROM near_reached n JOIN near_fitting f ON f.memory_id = n.memory_id WHERE NOT (SELECT s.whole FROM sparse s)
           UNION ALL
          SELECT a.memory_id, a.cosine
            FROM few f
           CROSS JOIN LATERAL engram.near_among(%(tenant_id)s, %(scope_ids)s::bigint[], %(model_id)s, %(vector)s::halfvec,
                   CASE WHEN NOT f.by_key THEN f.memory_ids END, %(fetch)s) a
           UNION ALL
          SELECT c.memory_id, c.cosine
            FROM few f
           CROSS JOIN LATERAL engram.vector_cosines(%(tenant_id)s, %(scope_ids)s::bigint[], %(model_id)s, %(vector)s::halfvec,
                   CASE WHEN f.by_key THEN f.memory_ids END) c) v
   ORDER BY v.cosine DESC, v.memory_id
   LIMIT %(fetch)s)
