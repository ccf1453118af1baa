-- Take back what events did to relations, where nothing was said of them since: each is again as it was before, or was never there.
WITH said AS (
  SELECT DISTINCT ON (c.source_id, c.target_id, c.relation_type) c.source_id, c.target_id, c.relation_type, c.change_id
    FROM engram.relation_changes c
   WHERE c.tenant_id = %(tenant_id)s AND c.event_id = ANY(%(event_ids)s::uuid[])
   ORDER BY c.source_id, c.target_id, c.relation_type, c.change_id)
UPDATE engram.memory_relations r
   SET weight = coalesce(b.weight, r.weight), auto = coalesce(b.auto, r.auto),
       metadata = CASE WHEN b.ended IS FALSE THEN b.metadata ELSE '{}' END,
       ended_at = CASE WHEN b.ended IS FALSE THEN NULL ELSE %(at)s::timestamptz END,
       holds_at = CASE WHEN b.ended IS FALSE THEN b.holds_at ELSE '-infinity' END,
       changed_at = %(at)s, event_id = %(event_id)s::uuid
  FROM said
  LEFT JOIN LATERAL (
       SELECT p.weight, p.auto, p.metadata, p.ended, p.holds_at
         FROM engram.relation_changes p
        WHERE p.tenant_id = %(tenant_id)s AND p.source_id = said.source_id AND p.target_id = said.target_id
          AND p.relation_type = said.relation_type AND p.change_id < said.change_id
        ORDER BY p.change_id DESC LIMIT 1) b ON true
 WHERE r.tenant_id = %(tenant_id)s AND r.source_id = said.source_id AND r.target_id = said.target_id
   AND r.relation_type = said.relation_type AND r.event_id = ANY(%(event_ids)s::uuid[])
