-- Take named jobs of this tenant under a fresh lease: those still queued and due, and those taken under this very token before.
SELECT j.tenant_id, j.job_id, j.scope_id, j.kind, j.stream_id, j.position, j.payload, j.state, j.priority, j.run_at, j.attempt,
       j.max_attempts, j.crashes, j.lease_token, j.lease_until, j.error_class, j.error_text, j.created_at, j.finished_at
  FROM engram.claim_named_jobs(%(job_ids)s::uuid[], %(lease)s::interval, %(token)s::uuid) j
