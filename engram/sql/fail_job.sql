-- A job failed, if the lease is still ours: again later, or dead once its attempts are used up or nothing can help it.
UPDATE engram.memory_jobs j
   SET state = CASE WHEN f.final THEN 'dead' ELSE 'queued' END,
       attempt = CASE WHEN %(counts)s THEN j.attempt ELSE j.attempt - 1 END,
       finished_at = CASE WHEN f.final THEN clock_timestamp() END,
       run_at = clock_timestamp() + %(delay)s::float8 * interval '1 second', asleep = NOT f.final,
       lease_token = NULL, lease_until = NULL, error_class = %(error_class)s, error_text = %(error_text)s
  FROM (SELECT q.job_id, %(permanent)s OR (%(counts)s AND q.attempt >= q.max_attempts) AS final
          FROM engram.memory_jobs q
         WHERE q.tenant_id = engram.current_tenant() AND q.job_id = %(job_id)s AND q.lease_token = %(lease_token)s
           AND q.state = 'running'
           FOR UPDATE) f
 WHERE j.tenant_id = engram.current_tenant()
   AND j.job_id = f.job_id
RETURNING j.state
