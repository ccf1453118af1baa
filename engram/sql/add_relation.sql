-- Relate memories as the engine does: for as long as both hold. The same relation again keeps the heavier weight.
INSERT INTO engram.memory_relations AS r (tenant_id, source_id, target_id, relation_type, weight, auto, event_id, recorded_at, changed_at)
SELECT %(tenant_id)s, n.source_id, n.target_id, n.relation_type, n.weight, n.auto, n.event_id, now.at, now.at
  FROM unnest(%(source_ids)s::uuid[], %(target_ids)s::uuid[], %(relation_types)s::text[], %(weights)s::float8[], %(autos)s::boolean[],
              %(event_ids)s::uuid[]) AS n (source_id, target_id, relation_type, weight, auto, event_id)
 CROSS JOIN LATERAL (SELECT coalesce(%(at)s::timestamptz, clock_timestamp()) AS at, n.source_id) now
ON CONFLICT (tenant_id, source_id, target_id, relation_type)
DO UPDATE SET weight = greatest(r.weight, excluded.weight), ended_at = NULL,
  event_id = CASE WHEN r.ended_at IS NOT NULL OR excluded.weight > r.weight THEN excluded.event_id ELSE r.event_id END,
  holds_at = CASE WHEN r.ended_at IS NOT NULL THEN excluded.changed_at ELSE excluded.holds_at END,
  changed_at = excluded.changed_at
