-- A memory by its id, whole, as it is now, with the scopes that a read may see found at once. The server keeps the plans.
SELECT m.*
  FROM (/*seen*/) v
 CROSS JOIN LATERAL engram.whole_memories(%(tenant_id)s, v.ids, v.own, ARRAY[%(memory_id)s::uuid]) m
