-- Relate two memories as a deriver found them; a relation that is there, or that somebody ended, stays as it is.
INSERT INTO engram.memory_relations (tenant_id, source_id, target_id, relation_type, weight, auto, metadata, event_id, recorded_at)
VALUES (%(tenant_id)s, %(source_id)s, %(target_id)s, %(relation_type)s, %(weight)s, true, %(metadata)s::jsonb, %(event_id)s,
  coalesce(%(at)s::timestamptz, clock_timestamp()))
ON CONFLICT (tenant_id, source_id, target_id, relation_type) DO NOTHING
