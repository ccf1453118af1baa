-- Lock a task run until the transaction ends; its versions and states are given out under this lock.
SELECT t.task_run_id FROM engram.agent_task_runs t
 WHERE t.tenant_id = %(tenant_id)s AND t.task_run_id = %(task_run_id)s AND t.scope_id = ANY (%(scope_ids)s)
   FOR NO KEY UPDATE
