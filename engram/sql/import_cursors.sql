-- How far each deriver had come in exported streams.
INSERT INTO engram.derivations (tenant_id, stream_id, deriver, version, position)
SELECT %(tenant_id)s, r.stream_id, r.deriver, r.version, r.position
  FROM jsonb_to_recordset(%(rows)s::jsonb) r(stream_id uuid, deriver text, version integer, position bigint)
