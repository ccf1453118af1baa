-- The lineage of a memory as it is now, whole, in no order, with the scopes that a read may see found at once. The server keeps the plans.
SELECT m.*
  FROM (/*seen*/) v
 CROSS JOIN LATERAL engram.whole_memories(
        %(tenant_id)s, v.ids, v.own, engram.lineage_memories(%(tenant_id)s, v.ids, v.own, %(memory_id)s::uuid)) m
