-- The lineage of a memory as it is now, whole, in no order. The server keeps the plans.
SELECT m.*
  FROM engram.whole_memories(
         %(tenant_id)s, %(scope_ids)s::bigint[], %(own)s,
         engram.lineage_memories(%(tenant_id)s, %(scope_ids)s::bigint[], %(own)s, %(memory_id)s::uuid)) m
