-- Where a walk of now leads, and the memories at its ends, whole, with those asked for beside them; of a path, each half with the end it
-- begins at. The scopes are those given, or where none are those that the reader may see. The server keeps the plans.
WITH v AS MATERIALIZED (
  SELECT coalesce(%(scope_ids)s::bigint[], s.ids) AS scope_ids, coalesce(%(own)s::bigint, s.own) AS own
    FROM (VALUES (0)) o(n)
    LEFT JOIN LATERAL (/*seen*/) s ON %(scope_ids)s::bigint[] IS NULL),
w AS MATERIALIZED (
  SELECT w.*
    FROM v
   CROSS JOIN LATERAL engram.walk_relations(
           %(tenant_id)s, v.scope_ids, v.own, NULL, NULL, %(superseded)s,
           %(seeds)s::uuid[], %(depths)s::integer[], %(outbound)s, %(inbound)s, %(relation_types)s::text[], %(min_weight)s, %(breadth)s,
           %(budget)s, %(limit_per_seed)s, %(limit)s, %(by_path)s, %(by_question)s, %(by_importance)s, %(model_id)s,
           %(vector)s::halfvec, %(gate)s, %(structural)s::text[], %(most)s) w)
SELECT w.*, m.*
  FROM v
 CROSS JOIN LATERAL engram.whole_memories(
         %(tenant_id)s, v.scope_ids, v.own,
         ARRAY(SELECT w.node::uuid FROM w UNION SELECT b.memory_id FROM unnest(%(beside)s::uuid[]) b(memory_id))) m
  LEFT JOIN w ON CASE WHEN %(most)s::integer IS NULL THEN w.node ELSE w.seed END = m.memory_id
 ORDER BY w.score DESC, w.depth, w.node
