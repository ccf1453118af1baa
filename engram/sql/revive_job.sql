-- Queue a dead, paused or cancelled job again, with its counters at zero.
UPDATE engram.memory_jobs j
   SET state = 'queued', attempt = 0, crashes = 0, run_at = clock_timestamp(), finished_at = NULL
 WHERE j.tenant_id = engram.current_tenant()
   AND j.job_id = %(job_id)s
   AND j.state IN ('dead', 'paused', 'cancelled')
   AND (%(scope_ids)s::bigint[] IS NULL OR j.scope_id = ANY (%(scope_ids)s))
