-- Whether an entry of the history of some scopes is of a memory that is not theirs, or names a memory, an event or a run of another.
SELECT EXISTS (
  SELECT FROM engram.memory_changes c
   WHERE c.tenant_id = %(tenant_id)s AND c.scope_id = ANY(%(scope_ids)s)
     AND (c.memory_id IS NOT NULL
          AND NOT EXISTS (SELECT FROM engram.agent_memory m
                           WHERE m.tenant_id = c.tenant_id AND m.memory_id = c.memory_id AND m.scope_id = ANY(%(scope_ids)s))
       OR EXISTS (SELECT FROM engram.agent_memory m
                   WHERE m.tenant_id = c.tenant_id AND m.memory_id = c.previous_id AND m.scope_id <> ALL(%(scope_ids)s))
       OR EXISTS (SELECT FROM engram.agent_events e
                   WHERE e.tenant_id = c.tenant_id AND e.event_id = c.event_id AND e.scope_id <> ALL(%(scope_ids)s))
       OR EXISTS (SELECT FROM engram.lifecycle_runs r
                   WHERE r.tenant_id = c.tenant_id AND r.run_id = c.run_id AND r.scope_id <> ALL(%(scope_ids)s))))
