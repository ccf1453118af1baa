-- Jobs are done, those whose lease is still ours.
UPDATE engram.memory_jobs j
   SET state = 'done', lease_token = NULL, lease_until = NULL, finished_at = clock_timestamp(), error_class = NULL,
       error_text = NULL
  FROM unnest(%(job_ids)s::uuid[], %(lease_tokens)s::uuid[]) g (job_id, lease_token)
 WHERE j.tenant_id = engram.current_tenant()
   AND j.job_id = g.job_id
   AND j.lease_token = g.lease_token
   AND j.state = 'running'
