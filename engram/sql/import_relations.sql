-- Relations as they stood when they were exported; their history is written by itself.
INSERT INTO engram.memory_relations (tenant_id, source_id, target_id, relation_type, weight, auto, metadata, recorded_at, ended_at,
  event_id, holds_at, changed_at)
SELECT %(tenant_id)s, r.source_id, r.target_id, r.relation_type, r.weight, r.auto, r.metadata, r.recorded_at, r.ended_at, r.event_id,
       r.holds_at, r.changed_at
  FROM jsonb_to_recordset(%(rows)s::jsonb) r(source_id uuid, target_id uuid, relation_type text, weight float8, auto boolean,
         metadata jsonb, recorded_at timestamptz, ended_at timestamptz, event_id uuid, holds_at timestamptz, changed_at timestamptz)
