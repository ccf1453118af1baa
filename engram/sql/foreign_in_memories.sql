-- Whether a memory of some scopes names a memory, an event or a task run of another scope.
SELECT EXISTS (
  SELECT FROM engram.agent_memory m
   WHERE m.tenant_id = %(tenant_id)s AND m.scope_id = ANY(%(scope_ids)s)
     AND (EXISTS (SELECT FROM engram.agent_events e
                   WHERE e.tenant_id = m.tenant_id AND e.event_id IN (m.event_id, m.stands_event_id)
                     AND e.scope_id <> ALL(%(scope_ids)s))
       OR EXISTS (SELECT FROM engram.memory_sources s
                    JOIN engram.agent_events e ON e.tenant_id = s.tenant_id AND e.event_id = s.event_id
                   WHERE s.tenant_id = m.tenant_id AND s.memory_id = m.memory_id AND e.scope_id <> ALL(%(scope_ids)s))
       OR EXISTS (SELECT FROM engram.agent_memory o
                   WHERE o.tenant_id = m.tenant_id AND o.memory_id IN (m.superseded_by, m.consolidated_into)
                     AND o.scope_id <> ALL(%(scope_ids)s))
       OR EXISTS (SELECT FROM engram.agent_memory o
                   WHERE o.tenant_id = m.tenant_id AND o.lineage_id = m.lineage_id AND o.scope_id <> ALL(%(scope_ids)s))))
    OR EXISTS (
  SELECT FROM engram.agent_memory m
    JOIN engram.agent_task_runs t
      ON t.tenant_id = m.tenant_id AND t.task_run_id::text = m.task_run_id AND t.scope_id <> ALL(%(scope_ids)s)
   WHERE m.tenant_id = %(tenant_id)s AND m.scope_id = ANY(%(scope_ids)s))
