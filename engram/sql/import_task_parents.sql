-- Which task run each imported one is a part of.
UPDATE engram.agent_task_runs t SET parent_task_id = r.parent_task_id
  FROM jsonb_to_recordset(%(rows)s::jsonb) r(task_run_id uuid, parent_task_id uuid)
 WHERE t.tenant_id = %(tenant_id)s AND t.task_run_id = r.task_run_id
