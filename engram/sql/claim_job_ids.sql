-- Take named jobs of this tenant under a fresh lease: those still queued and due, and those taken under this very token before.
WITH due AS (
  SELECT d.job_id
    FROM engram.memory_jobs d
   WHERE d.tenant_id = engram.current_tenant()
     AND d.job_id = ANY (%(job_ids)s::uuid[])
     AND (d.state = 'queued' AND d.run_at <= clock_timestamp() OR d.state = 'running' AND d.lease_token = %(token)s::uuid)
   ORDER BY d.priority, d.run_at, d.job_id
     FOR UPDATE SKIP LOCKED)
UPDATE engram.memory_jobs j
   SET state = 'running', attempt = j.attempt + (j.state = 'queued')::integer, lease_token = %(token)s::uuid,
       lease_until = clock_timestamp() + %(lease)s::interval
  FROM due
 WHERE j.tenant_id = engram.current_tenant()
   AND j.job_id = due.job_id
RETURNING j.tenant_id, j.job_id, j.scope_id, j.kind, j.stream_id, j.position, j.payload, j.state, j.priority, j.run_at, j.attempt,
          j.max_attempts, j.crashes, j.lease_token, j.lease_until, j.error_class, j.error_text, j.created_at, j.finished_at
