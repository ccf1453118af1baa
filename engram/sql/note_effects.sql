-- Write down what deeds did to memories, each with the state it left and why; whether each stands in a summary, or for others.
INSERT INTO engram.memory_changes (tenant_id, memory_id, scope_id, recorded_at, entry, status, state, reason, actor, event_id, run_id,
  because)
SELECT m.tenant_id, m.memory_id, m.scope_id, coalesce(%(at)s::timestamptz, clock_timestamp()), s.entry, m.status, engram.memory_state(m),
       %(reason)s, %(actor)s, %(event_id)s::uuid, %(run_id)s::uuid, s.because
  FROM jsonb_to_recordset(%(rows)s::jsonb) s(memory_id uuid, entry text, because text)
  JOIN engram.agent_memory m ON m.tenant_id = %(tenant_id)s AND m.memory_id = s.memory_id
 ORDER BY m.memory_id
RETURNING memory_id::text, state->>'consolidated_into' IS NOT NULL
          OR EXISTS (SELECT FROM engram.agent_memory o
                      WHERE o.tenant_id = memory_changes.tenant_id AND o.consolidated_into = memory_changes.memory_id) AS summarised
