-- The history of the memories of an export in the order it was written, with what was decided and refused. A reason that was given for what
-- changed a private memory of others, too, is left out, but for those of runs.
SELECT c.scope_id,
       json_build_object('memory_id', c.memory_id, 'recorded_at', c.recorded_at, 'entry', c.entry, 'status', c.status,
         'previous_id', c.previous_id, 'state', c.state, 'decision', c.decision,
         'reason', CASE WHEN c.reason IS NOT NULL AND (c.run_id IS NOT NULL OR NOT EXISTS (
           SELECT FROM engram.memory_changes o
             LEFT JOIN engram.agent_memory p ON p.tenant_id = o.tenant_id AND p.memory_id = o.memory_id
            WHERE o.tenant_id = c.tenant_id AND o.event_id = c.event_id AND (p.private OR o.decision->'private' = 'true')
              AND coalesce(p.scope_id, o.scope_id) <> ALL(%(own_ids)s))) THEN c.reason END, 'actor', c.actor,
         'event_id', c.event_id, 'run_id', c.run_id, 'because', c.because) AS line
  FROM engram.memory_changes c
  LEFT JOIN engram.agent_memory m ON m.tenant_id = c.tenant_id AND m.memory_id = c.memory_id
 WHERE c.tenant_id = %(tenant_id)s AND c.scope_id = ANY(%(scope_ids)s)
   AND (NOT coalesce(m.private OR c.decision->'private' = 'true', false) OR coalesce(m.scope_id, c.scope_id) = ANY(%(own_ids)s))
 ORDER BY c.change_id
