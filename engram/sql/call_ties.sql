-- Where a walk of now leads, with the memories at its ends, whole. The server keeps the plans.
WITH w AS MATERIALIZED (
  SELECT w.seed, w.node, w.depth, w.types, w.ways, w.score
    FROM engram.walk_relations(
           %(tenant_id)s, %(scope_ids)s::bigint[], %(own)s, %(as_of)s::timestamptz, %(known_at)s::timestamptz, %(superseded)s,
           %(seeds)s::uuid[], %(depths)s::integer[], %(outbound)s, %(inbound)s, %(relation_types)s::text[], %(min_weight)s, %(breadth)s,
           %(budget)s, %(limit_per_seed)s, %(limit)s, %(by_path)s, %(by_question)s, %(by_importance)s, %(model_id)s,
           %(vector)s::halfvec, %(gate)s, %(structural)s::text[], %(most)s) w)
SELECT w.seed, w.node, w.types, w.ways, m.*
  FROM w
  JOIN engram.whole_memories(
         %(tenant_id)s, %(scope_ids)s::bigint[], %(own)s, ARRAY(SELECT w.node::uuid FROM w GROUP BY w.node)) m ON m.memory_id = w.node
 ORDER BY w.score DESC, w.depth, w.node
