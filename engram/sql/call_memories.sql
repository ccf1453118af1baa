-- Memories by their ids, whole, as they are now. The server keeps the plan.
SELECT m.*
  FROM engram.whole_memories(%(tenant_id)s, %(scope_ids)s::bigint[], %(own)s, %(wanted)s::uuid[]) m
