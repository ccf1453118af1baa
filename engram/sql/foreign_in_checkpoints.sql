-- Whether a checkpoint of some scopes names a task run, a stream or an event that is not of its own scope, or rests on an event of others.
SELECT EXISTS (
  SELECT FROM engram.agent_checkpoints c
   WHERE c.tenant_id = %(tenant_id)s AND c.scope_id = ANY(%(scope_ids)s)
     AND (NOT EXISTS (SELECT FROM engram.agent_task_runs t
                       WHERE t.tenant_id = c.tenant_id AND t.task_run_id = c.task_run_id AND t.scope_id = c.scope_id
                         AND t.stream_id = c.stream_id)
       OR NOT EXISTS (SELECT FROM engram.agent_events e
                       WHERE e.tenant_id = c.tenant_id AND e.event_id = c.event_id AND e.scope_id = c.scope_id)
       OR EXISTS (SELECT FROM engram.agent_events e
                   WHERE e.tenant_id = c.tenant_id AND e.event_id = ANY(c.source_event_ids) AND e.scope_id <> ALL(%(scope_ids)s))))
