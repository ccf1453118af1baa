-- One job by its id, in some scopes or in any of the tenant.
SELECT j.tenant_id, j.job_id, j.scope_id, j.kind, j.stream_id, j.position, j.payload, j.state, j.priority, j.run_at, j.attempt,
       j.max_attempts, j.crashes, j.lease_token, j.lease_until, j.error_class, j.error_text, j.created_at, j.finished_at
  FROM engram.memory_jobs j
 WHERE j.tenant_id = engram.current_tenant()
   AND j.job_id = %(job_id)s
   AND (%(scope_ids)s::bigint[] IS NULL OR j.scope_id = ANY (%(scope_ids)s))
