-- A run and the runs that are its steps.
SELECT r.run_id::text
  FROM engram.lifecycle_runs r
 WHERE r.tenant_id = %(tenant_id)s AND (r.run_id = %(run_id)s::uuid OR r.parent_id = %(run_id)s::uuid AND r.step <> 'undo')
 ORDER BY r.started_at, r.run_id
