-- The history of imported memories, in its order.
INSERT INTO engram.memory_changes (tenant_id, memory_id, scope_id, recorded_at, entry, status, previous_id, state, decision, reason, actor,
  event_id, run_id, because)
SELECT %(tenant_id)s, r.memory_id, r.scope, r.recorded_at, r.entry, r.status, r.previous_id, r.state, r.decision, r.reason, r.actor,
       r.event_id, r.run_id, r.because
  FROM jsonb_to_recordset(%(rows)s::jsonb) r(place integer, memory_id uuid, scope bigint, recorded_at timestamptz, entry text, status text,
         previous_id uuid, state jsonb, decision jsonb, reason text, actor text, event_id uuid, run_id uuid,
         because text)
 ORDER BY r.place
