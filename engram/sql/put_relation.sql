-- Relate pairs of memories as somebody says: what is there already is replaced, its metadata only where some are given.
INSERT INTO engram.memory_relations AS r (tenant_id, source_id, target_id, relation_type, weight, auto, metadata, event_id, recorded_at,
  changed_at, holds_at)
SELECT DISTINCT ON (g.source_id, g.target_id, g.relation_type)
       %(tenant_id)s, g.source_id, g.target_id, g.relation_type, g.weight, false,
       coalesce(g.metadata::jsonb, CASE WHEN b.ended_at IS NULL THEN b.metadata END, '{}'), g.event_id, g.at, g.at, g.holds_at
  FROM unnest(%(source_ids)s::uuid[], %(target_ids)s::uuid[], %(relation_types)s::text[], %(weights)s::float8[], %(metadata)s::text[],
              %(event_ids)s::uuid[], %(ats)s::timestamptz[], %(holds_ats)s::timestamptz[])
       WITH ORDINALITY g (source_id, target_id, relation_type, weight, metadata, event_id, at, holds_at, place)
  LEFT JOIN LATERAL (
       SELECT o.ended_at, o.metadata FROM engram.memory_relations o
        WHERE o.tenant_id = %(tenant_id)s AND o.source_id = g.source_id AND o.target_id = g.target_id AND o.relation_type = g.relation_type
        LIMIT 1) b ON true
 ORDER BY g.source_id, g.target_id, g.relation_type, g.place DESC
ON CONFLICT (tenant_id, source_id, target_id, relation_type)
DO UPDATE SET weight = excluded.weight, auto = false, metadata = excluded.metadata, ended_at = NULL, event_id = excluded.event_id,
  changed_at = excluded.changed_at, holds_at = excluded.holds_at
