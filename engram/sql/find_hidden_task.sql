-- Whether a task run was forgotten: then its events are not shown.
SELECT t.task_run_id::text FROM engram.agent_task_runs t
 WHERE t.tenant_id = %(tenant_id)s AND t.task_run_id = %(task_run_id)s AND t.forgotten_at IS NOT NULL
