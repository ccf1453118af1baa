-- Whether some of these jobs run, or could.
SELECT EXISTS (SELECT FROM engram.memory_jobs j
                WHERE j.tenant_id = engram.current_tenant() AND j.job_id = ANY (%(job_ids)s::uuid[])
                  AND (j.state = 'running' OR j.state = 'queued' AND j.run_at <= clock_timestamp()))
