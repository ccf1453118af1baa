-- A cycle under way, under a lock: what it goes by and which steps are done or failed.
SELECT r.run_id::text, r.scope_id, r.started_at, r.steps, r.failed_steps, r.finished, r.cycle
  FROM engram.lifecycle_runs r
 WHERE r.tenant_id = %(tenant_id)s AND r.run_id = %(run_id)s::uuid
   FOR UPDATE
