-- Keep a job a while longer, if the lease is still ours.
UPDATE engram.memory_jobs j
   SET lease_until = clock_timestamp() + %(lease)s::interval
 WHERE j.tenant_id = engram.current_tenant()
   AND j.job_id = %(job_id)s
   AND j.lease_token = %(lease_token)s
   AND j.state = 'running'
