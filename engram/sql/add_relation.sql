-- Relate two memories; the same relation again keeps the heavier weight.
INSERT INTO engram.memory_relations (tenant_id, source_id, target_id, relation_type, weight, auto, event_id, recorded_at)
VALUES (%(tenant_id)s, %(source_id)s, %(target_id)s, %(relation_type)s, %(weight)s, %(auto)s, %(event_id)s,
  coalesce(%(at)s::timestamptz, clock_timestamp()))
ON CONFLICT (tenant_id, source_id, target_id, relation_type)
DO UPDATE SET weight = greatest(memory_relations.weight, excluded.weight), ended_at = NULL
