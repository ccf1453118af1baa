-- Cancel a job that is not done; the token of one that runs is taken away, so that its effect is refused.
UPDATE engram.memory_jobs j
   SET state = 'cancelled', asleep = false, lease_token = NULL, lease_until = NULL, finished_at = clock_timestamp()
 WHERE j.tenant_id = engram.current_tenant()
   AND j.job_id = %(job_id)s
   AND j.state IN ('queued', 'running', 'paused', 'dead')
   AND (%(scope_ids)s::bigint[] IS NULL OR j.scope_id = ANY (%(scope_ids)s))
