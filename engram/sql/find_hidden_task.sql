-- Whether a task run was forgotten, by a moment if one is given: then its events are not shown.
SELECT t.task_run_id::text FROM engram.agent_task_runs t
 WHERE t.tenant_id = %(tenant_id)s AND t.task_run_id = %(task_run_id)s
   AND t.forgotten_at <= coalesce(%(known_at)s::timestamptz, 'infinity')
