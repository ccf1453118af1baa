-- A job is done, if the lease is still ours.
UPDATE engram.memory_jobs j
   SET state = 'done', lease_token = NULL, lease_until = NULL, finished_at = clock_timestamp(), error_class = NULL,
       error_text = NULL
 WHERE j.tenant_id = engram.current_tenant()
   AND j.job_id = %(job_id)s
   AND j.lease_token = %(lease_token)s
   AND j.state = 'running'
