-- Relate memories of a shadow, or part them, as some events did with the live ones: all that erased ones did, and of others what leads to the
-- place of an erased memory, where nothing stands that a rule could relate.
INSERT INTO engram.memory_relations AS r (tenant_id, source_id, target_id, relation_type, weight, auto, metadata, recorded_at, ended_at,
  event_id, holds_at, changed_at)
SELECT DISTINCT ON (a.memory_id, b.memory_id, c.relation_type)
       c.tenant_id, a.memory_id, b.memory_id, c.relation_type, c.weight, c.auto, c.metadata, c.recorded_at,
       CASE WHEN c.ended THEN c.recorded_at END, c.event_id, c.holds_at, c.recorded_at
  FROM engram.relation_changes c
  JOIN engram.agent_memory a
    ON a.tenant_id = c.tenant_id AND a.scope_id = %(shadow_id)s AND a.memory_id = engram.redigit(c.source_id, '7', %(digit)s)
  JOIN engram.agent_memory b
    ON b.tenant_id = c.tenant_id AND b.scope_id = %(shadow_id)s AND b.memory_id = engram.redigit(c.target_id, '7', %(digit)s)
 WHERE c.tenant_id = %(tenant_id)s AND c.event_id = ANY(%(event_ids)s::uuid[])
   AND (%(all)s OR 'erased' IN (a.status_reason, b.status_reason))
   AND substr(c.source_id::text, 15, 1) = '7' AND substr(c.target_id::text, 15, 1) = '7'
 ORDER BY a.memory_id, b.memory_id, c.relation_type, c.change_id DESC
    ON CONFLICT (tenant_id, source_id, target_id, relation_type)
    DO UPDATE SET weight = excluded.weight, auto = excluded.auto, metadata = excluded.metadata, ended_at = excluded.ended_at,
       event_id = excluded.event_id, holds_at = excluded.holds_at, changed_at = excluded.changed_at
