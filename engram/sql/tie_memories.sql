-- Relate pairs of memories as the life cycle says; what somebody said of them stays as it is.
INSERT INTO engram.memory_relations AS r (tenant_id, source_id, target_id, relation_type, weight, auto, event_id, recorded_at, changed_at)
SELECT %(tenant_id)s, s.source_id, s.target_id, s.relation_type, s.weight, s.auto, %(event_id)s::uuid, %(at)s, %(at)s
  FROM jsonb_to_recordset(%(rows)s::jsonb) s(source_id uuid, target_id uuid, relation_type text, weight float8, auto boolean)
    ON CONFLICT (tenant_id, source_id, target_id, relation_type)
    DO UPDATE SET weight = CASE WHEN r.ended_at IS NULL THEN greatest(r.weight, excluded.weight) ELSE excluded.weight END,
                  auto = excluded.auto, ended_at = NULL, event_id = excluded.event_id, changed_at = excluded.changed_at
    WHERE r.ended_at IS NOT NULL OR r.auto
