-- Relate memories of a shadow as an erased event related the live ones.
INSERT INTO engram.memory_relations (tenant_id, source_id, target_id, relation_type, weight, auto, metadata, recorded_at, ended_at, event_id)
SELECT r.tenant_id, a.memory_id, b.memory_id, r.relation_type, r.weight, r.auto, r.metadata, r.recorded_at, r.ended_at, r.event_id
  FROM engram.memory_relations r
  JOIN engram.agent_memory a
    ON a.tenant_id = r.tenant_id AND a.scope_id = %(shadow_id)s AND a.memory_id = engram.redigit(r.source_id, '7', %(digit)s)
  JOIN engram.agent_memory b
    ON b.tenant_id = r.tenant_id AND b.scope_id = %(shadow_id)s AND b.memory_id = engram.redigit(r.target_id, '7', %(digit)s)
 WHERE r.tenant_id = %(tenant_id)s AND r.event_id = %(event_id)s::uuid
   AND substr(r.source_id::text, 15, 1) = '7' AND substr(r.target_id::text, 15, 1) = '7'
    ON CONFLICT DO NOTHING
