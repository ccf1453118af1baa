-- Take back what events did to relations that still are as these left them: each is again as it was before, or was never there. From
-- when on that was so may lie in several pieces of time: `place` says which of them is put back, the earliest first.
WITH said AS (
  SELECT c.source_id, c.target_id, c.relation_type, min(c.change_id) AS first, max(c.change_id) AS last, min(c.holds_at) AS holds_at
    FROM engram.relation_changes c
   WHERE c.tenant_id = %(tenant_id)s AND c.event_id = ANY(%(event_ids)s::uuid[])
   GROUP BY c.source_id, c.target_id, c.relation_type),
piece AS (
  SELECT s.source_id, s.target_id, s.relation_type, s.last, b.weight, b.auto, b.metadata, b.ended, at.holds_at,
         row_number() OVER (PARTITION BY s.source_id, s.target_id, s.relation_type ORDER BY at.holds_at) AS place
    FROM said s
   CROSS JOIN LATERAL (
        SELECT 0 AS change_id, '-infinity'::timestamptz AS holds_at, NULL::float8 AS weight, NULL::boolean AS auto,
               '{}'::jsonb AS metadata, true AS ended
         UNION ALL
        SELECT p.change_id, p.holds_at, p.weight, p.auto, p.metadata, p.ended
          FROM engram.relation_changes p
         WHERE p.tenant_id = %(tenant_id)s AND p.source_id = s.source_id AND p.target_id = s.target_id
           AND p.relation_type = s.relation_type AND p.change_id < s.first) b
   CROSS JOIN LATERAL (SELECT greatest(b.holds_at, s.holds_at) AS holds_at) at
   WHERE NOT EXISTS (
         SELECT FROM engram.relation_changes l
          WHERE l.tenant_id = %(tenant_id)s AND l.source_id = s.source_id AND l.target_id = s.target_id
            AND l.relation_type = s.relation_type AND l.change_id > b.change_id AND l.change_id < s.first
            AND l.holds_at <= at.holds_at))
UPDATE engram.memory_relations r
   SET weight = coalesce(p.weight, r.weight), auto = coalesce(p.auto, r.auto),
       metadata = CASE WHEN p.ended THEN '{}' ELSE p.metadata END,
       ended_at = CASE WHEN p.ended THEN %(at)s::timestamptz END,
       holds_at = p.holds_at, changed_at = %(at)s, event_id = %(event_id)s::uuid
  FROM piece p
  JOIN engram.relation_changes c
    ON c.tenant_id = %(tenant_id)s AND c.source_id = p.source_id AND c.target_id = p.target_id AND c.relation_type = p.relation_type
   AND c.change_id = p.last
 WHERE p.place = %(place)s
   AND r.tenant_id = %(tenant_id)s AND r.source_id = p.source_id AND r.target_id = p.target_id AND r.relation_type = p.relation_type
   AND CASE WHEN %(place)s > 1 THEN r.event_id = %(event_id)s::uuid
            WHEN c.ended THEN r.ended_at IS NOT NULL
            ELSE r.ended_at IS NULL AND (r.weight, r.auto, r.metadata) = (c.weight, c.auto, c.metadata) END
   AND EXISTS (SELECT FROM engram.agent_memory m
                WHERE m.tenant_id = %(tenant_id)s AND m.memory_id = r.source_id
                  AND (m.scope_id = %(shadow_id)s::bigint OR %(shadow_id)s::bigint IS NULL AND m.scope_id > 0))
