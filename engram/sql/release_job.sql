-- Give a job back untouched, if the lease is still ours: the attempt does not count.
UPDATE engram.memory_jobs j
   SET state = 'queued', attempt = j.attempt - 1, lease_token = NULL, lease_until = NULL
 WHERE j.tenant_id = engram.current_tenant()
   AND j.job_id = %(job_id)s
   AND j.lease_token = %(lease_token)s
   AND j.state = 'running'
