-- Seconds until the next job of this tenant of the named kinds falls due, or until a lease of one ends; null where none is open.
SELECT extract(epoch FROM coalesce(
         (SELECT r.run_at                                  -- what is ready is due: the rest is looked at only without it
            FROM unnest(%(kinds)s::text[]) k (kind)
           CROSS JOIN LATERAL (
             SELECT j.run_at FROM engram.memory_jobs j
              WHERE j.tenant_id = engram.current_tenant() AND j.kind = k.kind AND j.state = 'queued' AND NOT j.asleep
              ORDER BY j.priority, j.run_at, j.job_id
              LIMIT 1) r
           LIMIT 1),
         least(
           (SELECT min(a.run_at)                           -- one of each kind
              FROM unnest(%(kinds)s::text[]) k (kind)
             CROSS JOIN LATERAL (
               SELECT j.run_at FROM engram.memory_jobs j
                WHERE j.tenant_id = engram.current_tenant() AND j.kind = k.kind AND j.asleep AND j.state IN ('queued', 'paused')
                ORDER BY j.run_at
                LIMIT 1) a),
           (SELECT j.lease_until FROM engram.memory_jobs j
             WHERE j.tenant_id = engram.current_tenant() AND j.kind = ANY (%(kinds)s::text[]) AND j.state = 'running'
             ORDER BY j.lease_until
             LIMIT 1))) - clock_timestamp())::float8
