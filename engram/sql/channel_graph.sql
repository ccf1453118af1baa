-- The graph channel: what the best hits are related to, and what is known of those whom the question names. Structural relations
-- always count; loose ones only towards what the question means too, which is seen when the cosines are known.
seeds AS MATERIALIZED (
  SELECT s.memory_id, s.nearness
    FROM (SELECT b.memory_id, coalesce(k.coverage, 0) ^ 2 + 0.5 * greatest(0, coalesce(v.cosine, 0)) AS nearness
            FROM (SELECT memory_id FROM semantic UNION SELECT memory_id FROM keyword) b
            LEFT JOIN semantic v ON v.memory_id = b.memory_id
            LEFT JOIN scored k ON k.memory_id = b.memory_id) s
   WHERE s.nearness >= %(seed_floor)s
   ORDER BY s.nearness DESC, s.memory_id
   LIMIT %(seeds)s),
edges AS (
  SELECT s.memory_id AS seed_id, r.other_id, least(1, s.nearness) * r.weight AS closeness, r.relation_type = ANY(%(structural)s) AS bound
    FROM seeds s
   CROSS JOIN LATERAL (
         (SELECT o.target_id AS other_id, o.weight, o.relation_type
            FROM engram.memory_relations o
           WHERE o.tenant_id = %(tenant_id)s AND o.source_id = s.memory_id AND o.relation_type <> ALL(%(unfollowed)s) AND /*held*/
           ORDER BY o.weight DESC, o.target_id
           LIMIT %(breadth)s)
          UNION ALL
         (SELECT o.source_id, o.weight, o.relation_type
            FROM engram.memory_relations o
           WHERE o.tenant_id = %(tenant_id)s AND o.target_id = s.memory_id AND o.relation_type <> ALL(%(unfollowed)s) AND /*held*/
           ORDER BY o.weight DESC, o.source_id
           LIMIT %(breadth)s)) r
  UNION ALL
  (SELECT NULL, m.memory_id, %(named)s::float8, true
     FROM world m
    WHERE m.subject = ANY(%(names)s) AND /*loose*/
    ORDER BY m.recorded_at DESC, m.memory_id
    LIMIT %(breadth)s)),
graph AS MATERIALIZED (
  SELECT DISTINCT ON (e.other_id) e.other_id AS memory_id, e.closeness, e.seed_id, e.bound
    FROM edges e
   ORDER BY e.other_id, e.bound DESC, e.closeness DESC, e.seed_id)
