-- Whether an event of some scopes names a task run of another scope.
SELECT EXISTS (
  SELECT FROM engram.agent_events e
    JOIN engram.agent_task_runs t
      ON t.tenant_id = e.tenant_id AND t.task_run_id = e.task_run_id AND t.scope_id <> ALL(%(scope_ids)s)
   WHERE e.tenant_id = %(tenant_id)s AND e.scope_id = ANY(%(scope_ids)s))
