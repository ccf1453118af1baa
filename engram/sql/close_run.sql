-- Say how far a run has come.
UPDATE engram.lifecycle_runs
   SET steps = %(steps)s, failed_steps = %(failed_steps)s, finished = %(finished)s
 WHERE tenant_id = %(tenant_id)s AND run_id = %(run_id)s::uuid
