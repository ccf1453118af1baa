-- Who holds a cycle; nobody takes it up before this transaction ends.
SELECT r.cycle->>'holder' AS holder
  FROM engram.lifecycle_runs r
 WHERE r.tenant_id = %(tenant_id)s AND r.run_id = %(run_id)s::uuid
   FOR SHARE
