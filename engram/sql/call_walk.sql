-- Where a walk along relations leads, at any moment, with or without a question. The server keeps the plan.
SELECT w.*
  FROM engram.walk_relations(
         %(tenant_id)s, %(scope_ids)s::bigint[], %(own)s, %(as_of)s::timestamptz, %(known_at)s::timestamptz, %(superseded)s,
         %(seeds)s::uuid[], %(depths)s::integer[], %(outbound)s, %(inbound)s, %(relation_types)s::text[], %(min_weight)s, %(breadth)s,
         %(budget)s, %(limit_per_seed)s, %(limit)s, %(by_path)s, %(by_question)s, %(by_importance)s, %(model_id)s,
         %(vector)s::halfvec, %(gate)s, %(structural)s::text[], %(most)s) w
