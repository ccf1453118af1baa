-- Keep jobs a while longer, those whose lease is still ours.
UPDATE engram.memory_jobs j
   SET lease_until = clock_timestamp() + %(lease)s::interval
  FROM unnest(%(job_ids)s::uuid[], %(lease_tokens)s::uuid[]) g (job_id, lease_token)
 WHERE j.tenant_id = engram.current_tenant()
   AND j.job_id = g.job_id
   AND j.lease_token = g.lease_token
   AND j.state = 'running'
