-- A job of any kind, once for each dedup key.
INSERT INTO engram.memory_jobs (tenant_id, job_id, scope_id, kind, stream_id, position, payload, dedup_key, priority, run_at,
    asleep, max_attempts)
VALUES (engram.current_tenant(), %(job_id)s, %(scope_id)s, %(kind)s, %(stream_id)s, %(position)s, %(payload)s,
    %(dedup_key)s, %(priority)s, clock_timestamp() + %(delay)s::float8 * interval '1 second',
    %(delay)s::float8 > 0, %(max_attempts)s)
ON CONFLICT (tenant_id, dedup_key) DO NOTHING
RETURNING job_id
