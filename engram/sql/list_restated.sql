-- Memories that may be restated together: those no summary has to do with, each with its tags, the trust of what it stands on, which is less
-- than its own where somebody vouched for it, and its lineage where that may have an order.
SELECT m.memory_id::text, m.tags, greatest(m.trust, q.trust) AS trust, CASE WHEN m.conflict_key IS NOT NULL OR m.revision > 1 OR EXISTS (
         SELECT FROM engram.agent_memory o
          WHERE o.tenant_id = %(tenant_id)s AND o.lineage_id = m.lineage_id AND o.memory_id <> m.memory_id)
       THEN m.lineage_id::text END AS lineage_id
  FROM unnest(%(memory_ids)s::uuid[]) AS w (memory_id)
 CROSS JOIN LATERAL (
       SELECT b.memory_id, b.tags, b.trust, b.stands_event_id, b.stands_ordinal, b.lineage_id, b.conflict_key, b.revision, b.consolidated_into
         FROM engram.agent_memory b
        WHERE b.tenant_id = %(tenant_id)s AND b.memory_id = w.memory_id OFFSET 0) m
  LEFT JOIN LATERAL (
       SELECT s.trust
         FROM engram.memory_sources s
        WHERE s.tenant_id = %(tenant_id)s AND s.memory_id = m.memory_id AND s.event_id = m.stands_event_id
          AND s.ordinal = m.stands_ordinal OFFSET 0) q ON true
 WHERE m.consolidated_into IS NULL
   AND NOT EXISTS (SELECT FROM engram.agent_memory o WHERE o.tenant_id = %(tenant_id)s AND o.consolidated_into = m.memory_id)
