-- How often imported memories were returned, said again and rated.
INSERT INTO engram.memory_activity (tenant_id, memory_id, scope_id, access_count, last_accessed_at, accessed_epoch,
  repetition_count, positive, negative)
SELECT %(tenant_id)s, r.memory_id, r.scope, r.access_count, r.last_accessed_at, r.accessed_epoch, r.repetition_count, r.positive, r.negative
  FROM jsonb_to_recordset(%(rows)s::jsonb) r(memory_id uuid, scope bigint, access_count bigint, last_accessed_at timestamptz,
         accessed_epoch bigint,
         repetition_count integer, positive integer, negative integer)
