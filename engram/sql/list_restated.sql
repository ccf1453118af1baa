-- Memories that may be restated together: those no summary has to do with, each with its tags and its trust, and its lineage where that
-- may have an order.
SELECT m.memory_id::text, m.tags, m.trust, CASE WHEN m.conflict_key IS NOT NULL OR m.revision > 1 OR EXISTS (
         SELECT FROM engram.agent_memory o
          WHERE o.tenant_id = %(tenant_id)s AND o.lineage_id = m.lineage_id AND o.memory_id <> m.memory_id)
       THEN m.lineage_id::text END AS lineage_id
  FROM unnest(%(memory_ids)s::uuid[]) AS w (memory_id)
 CROSS JOIN LATERAL (
       SELECT b.memory_id, b.tags, b.trust, b.lineage_id, b.conflict_key, b.revision, b.consolidated_into
         FROM engram.agent_memory b
        WHERE b.tenant_id = %(tenant_id)s AND b.memory_id = w.memory_id OFFSET 0) m
 WHERE m.consolidated_into IS NULL
   AND NOT EXISTS (SELECT FROM engram.agent_memory o WHERE o.tenant_id = %(tenant_id)s AND o.consolidated_into = m.memory_id)
