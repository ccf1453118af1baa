-- The revisions of some lineages that were asked for by id and are not erased: what they have beside their texts may be of what is. A
-- revision of what is kept word for word has a lineage of its own, and takes over all the same: `line` is the one it took from.
-- `main_content` is what was asked for with it.
WITH RECURSIVE member AS (
  SELECT m.memory_id, m.scope_id, m.lineage_id AS line FROM engram.agent_memory m
   WHERE m.tenant_id = %(tenant_id)s AND m.lineage_id = ANY (%(lineage_ids)s::uuid[])
   UNION
  SELECT d.memory_id, d.scope_id, b.line FROM member b
    JOIN engram.agent_memory d
      ON d.tenant_id = %(tenant_id)s AND d.scope_id = b.scope_id AND d.deriver IS NULL AND d.category IN ('verbatim', 'source_chunk')
     AND right(engram.asked_of_a_memory(d.tenant_id, d.event_id) ->> 'memory_id', 8) = right(b.memory_id::text, 8))
SELECT m.memory_id::text, m.fact, b.line::text, r.request ->> 'main_content' AS main_content
  FROM member b
  JOIN engram.agent_memory m ON m.tenant_id = %(tenant_id)s AND m.memory_id = b.memory_id AND m.status_reason IS DISTINCT FROM 'erased'
 CROSS JOIN LATERAL engram.asked_of_a_memory(m.tenant_id, m.event_id) r (request)
 WHERE r.request ? 'fact'
