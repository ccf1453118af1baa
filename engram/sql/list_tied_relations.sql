-- What events did to relations whose ends a read may see: of each the state before the first and after the last of these changes, and
-- that of now; null where it did not stand.
WITH said AS (
  SELECT c.source_id, c.target_id, c.relation_type, min(c.change_id) AS first, max(c.change_id) AS last
    FROM engram.relation_changes c
   WHERE c.tenant_id = %(tenant_id)s AND c.event_id = ANY(%(event_ids)s::uuid[])
   GROUP BY c.source_id, c.target_id, c.relation_type)
SELECT s.source_id::text, s.target_id::text, s.relation_type, b.state AS before, l.state AS after, n.state AS now
  FROM said s
  LEFT JOIN LATERAL (
       SELECT CASE WHEN NOT c.ended THEN jsonb_build_object('weight', c.weight, 'auto', c.auto, 'metadata', c.metadata) END AS state
         FROM engram.relation_changes c
        WHERE c.tenant_id = %(tenant_id)s AND c.source_id = s.source_id AND c.target_id = s.target_id
          AND c.relation_type = s.relation_type AND c.change_id < s.first
        ORDER BY c.change_id DESC LIMIT 1) b ON true
  LEFT JOIN LATERAL (
       SELECT jsonb_build_object('weight', c.weight, 'auto', c.auto, 'metadata', c.metadata) AS state
         FROM engram.relation_changes c
        WHERE c.tenant_id = %(tenant_id)s AND c.source_id = s.source_id AND c.target_id = s.target_id
          AND c.relation_type = s.relation_type AND c.change_id = s.last AND NOT c.ended) l ON true
  LEFT JOIN LATERAL (
       SELECT jsonb_build_object('weight', r.weight, 'auto', r.auto, 'metadata', r.metadata) AS state
         FROM engram.memory_relations r
        WHERE r.tenant_id = %(tenant_id)s AND r.source_id = s.source_id AND r.target_id = s.target_id
          AND r.relation_type = s.relation_type AND r.ended_at IS NULL) n ON true
 WHERE 2 = (SELECT count(*) FROM engram.agent_memory m
             WHERE m.tenant_id = %(tenant_id)s AND m.memory_id IN (s.source_id, s.target_id) AND m.scope_id = ANY(%(scope_ids)s)
               AND (NOT m.private OR m.scope_id = %(own)s))
 ORDER BY s.first
