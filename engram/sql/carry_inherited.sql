-- Give a revision of a shadow that was made on the place of an erased memory what the live one had beside its text when it was made, as
-- far as it was not erased: what it inherited is known only so.
WITH carried AS (
  UPDATE engram.agent_memory s
     SET memory_type = n.memory_type, category = n.category, tags = n.tags, importance = n.importance, confidence = n.confidence,
         layer = n.layer, critical_slot = n.critical_slot, ended_at = n.ended_at,
         valid_to = CASE WHEN s.superseded_by IS NULL THEN n.ended_at
                         ELSE greatest(s.valid_from, least(n.ended_at, (SELECT h.valid_from FROM engram.agent_memory h
                           WHERE h.tenant_id = s.tenant_id AND h.memory_id = s.superseded_by))) END,
         expires_at = n.expires_at, source = n.source, metadata = n.metadata, private = n.private, main_content = m.main_content,
         topic_key = m.topic_key, subject = m.subject, attribute = m.attribute, value = m.value, rule = m.rule,
         conflict_key = CASE WHEN NOT EXISTS (
           SELECT FROM engram.agent_memory o
            WHERE o.tenant_id = s.tenant_id AND o.scope_id = s.scope_id AND o.conflict_key = m.conflict_key AND o.lineage_id <> s.lineage_id)
           THEN m.conflict_key END
    FROM engram.agent_memory m
   CROSS JOIN LATERAL (
         SELECT r.* FROM engram.memory_changes c
          CROSS JOIN LATERAL jsonb_populate_record(m, c.state) r
          WHERE c.tenant_id = m.tenant_id AND c.memory_id = m.memory_id AND c.entry = 'revised'
          ORDER BY c.change_id LIMIT 1) n
   WHERE s.tenant_id = %(tenant_id)s AND s.scope_id = %(shadow_id)s AND s.event_id = %(event_id)s::uuid
     AND m.tenant_id = s.tenant_id AND m.scope_id = %(scope_id)s AND m.memory_id = engram.redigit(s.memory_id, %(digit)s, '7')
  RETURNING s AS memory)
UPDATE engram.memory_changes c
   SET state = engram.memory_state(carried.memory)
  FROM carried
 WHERE c.tenant_id = %(tenant_id)s AND c.memory_id = (carried.memory).memory_id AND c.entry = 'revised'
