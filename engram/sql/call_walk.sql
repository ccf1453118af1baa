-- Where an ordinary walk leads: of now, without a question. The server keeps the plan.
SELECT w.*
  FROM engram.walk_relations(
         %(tenant_id)s, %(scope_ids)s::bigint[], %(own)s, %(superseded)s, %(seeds)s::uuid[], %(max_depth)s, %(outbound)s,
         %(inbound)s, %(relation_types)s::text[], %(min_weight)s, %(breadth)s, %(budget)s, %(limit_per_seed)s, %(limit)s,
         %(by_path)s, %(by_importance)s) w
