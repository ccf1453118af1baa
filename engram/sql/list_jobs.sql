-- The jobs of some scopes, oldest first, after a place. All states are named, as the indexes of a scope's jobs name them: otherwise
-- all jobs of the tenant would be read.
SELECT j.tenant_id, j.job_id, j.scope_id, j.kind, j.stream_id, j.position, j.payload, j.state, j.priority, j.run_at, j.attempt,
       j.max_attempts, j.crashes, j.lease_token, j.lease_until, j.error_class, j.error_text, j.created_at, j.finished_at
  FROM engram.memory_jobs j
 WHERE j.tenant_id = engram.current_tenant()
   AND (%(scope_ids)s::bigint[] IS NULL OR j.scope_id = ANY (%(scope_ids)s))
   AND (j.state IN ('queued', 'running', 'paused', 'dead') OR j.state IN ('done', 'cancelled'))
   AND (%(states)s::text[] IS NULL OR j.state = ANY (%(states)s))
   AND (%(kinds)s::text[] IS NULL OR j.kind = ANY (%(kinds)s))
   AND (%(after_at)s::timestamptz IS NULL OR (j.created_at, j.job_id) > (%(after_at)s, %(after_id)s::uuid))
 ORDER BY j.created_at, j.job_id
 LIMIT %(limit)s
