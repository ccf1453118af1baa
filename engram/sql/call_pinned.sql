-- The pinned memories that are current, whole, in no order. The server keeps the plans.
SELECT m.*
  FROM engram.whole_memories(
         %(tenant_id)s, %(scope_ids)s::bigint[], %(own)s,
         engram.pinned_memories(%(tenant_id)s, %(scope_ids)s::bigint[], %(own)s, %(memory_types)s::text[])) m
