-- Write down a change of a memory with the state it left; whether it stands in a summary, or for others.
INSERT INTO engram.memory_changes (tenant_id, memory_id, scope_id, recorded_at, entry, status, previous_id, state, decision, reason, actor,
  event_id, run_id)
SELECT m.tenant_id, m.memory_id, m.scope_id, coalesce(%(at)s::timestamptz, clock_timestamp()), %(entry)s, m.status, %(previous_id)s::uuid,
       engram.memory_state(m), %(decision)s::jsonb, %(reason)s, %(actor)s, %(event_id)s::uuid, %(run_id)s::uuid
  FROM engram.agent_memory m
 WHERE m.tenant_id = %(tenant_id)s AND m.memory_id = %(memory_id)s::uuid
RETURNING state->>'consolidated_into' IS NOT NULL
          OR EXISTS (SELECT FROM engram.agent_memory o
                      WHERE o.tenant_id = memory_changes.tenant_id AND o.consolidated_into = memory_changes.memory_id) AS summarised
