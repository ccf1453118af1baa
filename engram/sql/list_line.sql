-- The memories of a lineage, and those that contradict a memory, whole, as they are now. The server keeps the plans.
SELECT m.*, m.memory_id = ANY(o.rivals::text[]) AS rival
  FROM engram.line_of(%(tenant_id)s, %(lineage_id)s::uuid, %(memory_id)s::uuid) o
 CROSS JOIN LATERAL engram.whole_memories(
        %(tenant_id)s, %(scope_ids)s::bigint[], %(own)s, ARRAY(SELECT unnest(o.line) UNION SELECT unnest(o.rivals))) m
 ORDER BY m.revision DESC, m.memory_id
