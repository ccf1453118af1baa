-- Queue a job that is not running and not done, at once and with its counters at zero.
UPDATE engram.memory_jobs j
   SET state = 'queued', attempt = 0, crashes = 0, run_at = clock_timestamp(), asleep = false, finished_at = NULL
 WHERE j.tenant_id = engram.current_tenant()
   AND j.job_id = %(job_id)s
   AND j.state IN ('dead', 'paused', 'cancelled', 'queued')
   AND (%(scope_ids)s::bigint[] IS NULL OR j.scope_id = ANY (%(scope_ids)s))
