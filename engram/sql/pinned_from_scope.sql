-- The pinned memories that are current, whole, in no order, with the scopes that a read may see found at once. The server keeps the plans.
SELECT m.*
  FROM (/*seen*/) v
 CROSS JOIN LATERAL engram.whole_memories(
        %(tenant_id)s, v.ids, v.own, engram.pinned_memories(%(tenant_id)s, v.ids, v.own, %(memory_types)s::text[])) m
