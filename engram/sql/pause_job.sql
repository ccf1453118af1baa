-- Let a job rest for a while, if the lease is still ours: it is not to blame, so the attempt does not count.
UPDATE engram.memory_jobs j
   SET state = 'paused', attempt = j.attempt - 1, lease_token = NULL, lease_until = NULL, asleep = true,
       run_at = clock_timestamp() + %(delay)s::float8 * interval '1 second', error_class = %(error_class)s, error_text = NULL
 WHERE j.tenant_id = engram.current_tenant()
   AND j.job_id = %(job_id)s
   AND j.lease_token = %(lease_token)s
   AND j.state = 'running'
