-- Walk along relations from some memories, hop by hop. Of each memory the heaviest relations are followed whose other end the read
-- may see and finds current at its moment, never back into the path. Of each hop the best path to a memory is kept, and the best
-- paths of all; a row without a node says that some were left out. The reader fills in the rows and relations of its moment, what is
-- current, how near a memory is to the question, and what it wants of the walk.
WITH RECURSIVE /*past*/,
walk AS (
  SELECT m.memory_id AS seed, m.memory_id AS node, 0 AS depth, ARRAY[m.memory_id] AS path, ARRAY[]::text[] AS types,
         ARRAY[]::boolean[] AS ways, 1::float8 AS weight, m.importance, NULL::float8 AS cosine
    FROM (/*seeds*/) m
  UNION ALL
  SELECT k.seed, CASE WHEN k.place <= %(budget)s THEN k.node END, k.depth, k.path, k.types, k.ways, k.weight, k.importance, k.cosine
    FROM (
      SELECT b.*, row_number() OVER (ORDER BY b.node IS NULL, b.weight DESC, b.seed, b.path) AS place
        FROM (
          SELECT DISTINCT ON (w.seed, e.node)
                 w.seed, e.node, w.depth + 1 AS depth, w.path || e.node AS path, w.types || e.relation_type AS types,
                 w.ways || e.inbound AS ways, w.weight * e.weight AS weight, e.importance, e.cosine
            FROM walk w
           CROSS JOIN LATERAL (
             SELECT CASE WHEN row_number() OVER (ORDER BY f.weight DESC, f.node, f.relation_type, f.inbound) <= %(breadth)s
                         THEN f.node END AS node,
                    f.relation_type, f.inbound, f.weight, f.importance, f.cosine
               FROM (
                 SELECT r.node, r.relation_type, r.inbound, r.weight, m.importance, near.cosine
                   FROM (SELECT r.node, r.relation_type, r.inbound, r.weight
                           FROM (/*relations*/) r
                          WHERE r.weight >= %(min_weight)s AND r.node <> ALL (w.path)
                            AND (%(relation_types)s::text[] IS NULL OR r.relation_type = ANY(%(relation_types)s))
                          ORDER BY r.weight DESC, r.node, r.relation_type, r.inbound) r
                   /*ends*/
                   LEFT JOIN LATERAL (/*near*/) near ON true
                  WHERE %(gate)s::float8 IS NULL OR r.relation_type = ANY(%(structural)s) OR near.cosine >= %(gate)s
                  ORDER BY r.weight DESC, r.node, r.relation_type, r.inbound
                  LIMIT %(breadth)s + 1) f) e
           WHERE w.depth < %(max_depth)s - (w.seed = ANY(%(shorter)s::uuid[]))::integer AND w.node IS NOT NULL
           ORDER BY w.seed, e.node, w.weight * e.weight DESC, w.types || e.relation_type, w.path || e.node) b) k
   WHERE k.place <= %(budget)s + 1)
/*found*/
