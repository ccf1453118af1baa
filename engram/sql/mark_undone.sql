-- Say what undid a run and its steps, or that nothing did.
UPDATE engram.lifecycle_runs r
   SET undone_by = %(undone_by)s::uuid
 WHERE r.tenant_id = %(tenant_id)s AND (r.run_id = %(run_id)s::uuid OR r.parent_id = %(run_id)s::uuid AND r.step <> 'undo')
