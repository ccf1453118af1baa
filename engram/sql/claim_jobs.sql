-- Take ready jobs of the named kinds under a lease, of every tenant or of one; the same token finds them again.
SELECT j.tenant_id, j.job_id, j.scope_id, j.kind, j.stream_id, j.position, j.payload, j.state, j.priority, j.run_at, j.attempt,
       j.max_attempts, j.crashes, j.lease_token, j.lease_until, j.error_class, j.error_text, j.created_at, j.finished_at
  FROM engram.claim_jobs(p_kinds => %(kinds)s::text[], p_limit => %(limit)s, p_lease => %(lease)s::interval,
                         p_tenant => %(tenant_id)s::text, p_token => %(token)s::uuid) j
