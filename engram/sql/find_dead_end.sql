-- The class under which the work on some events died, where nothing is left that would derive them.
SELECT coalesce(j.error_class, 'unknown') AS error_class
  FROM (SELECT DISTINCT e.scope_id, e.stream_id
          FROM engram.agent_events e
         WHERE e.tenant_id = %(tenant_id)s AND e.scope_id = ANY(%(scope_ids)s) AND e.event_id = ANY(%(event_ids)s::uuid[])) s
  JOIN engram.memory_jobs j
    ON j.tenant_id = %(tenant_id)s AND j.scope_id = s.scope_id AND j.stream_id = s.stream_id AND j.kind = ANY(%(kinds)s)
   AND j.state = 'dead'
 WHERE NOT EXISTS (SELECT FROM engram.memory_jobs a
                    WHERE a.tenant_id = %(tenant_id)s AND a.scope_id = s.scope_id AND a.stream_id = s.stream_id
                      AND a.kind IN ('derive', 'extract') AND a.state IN ('queued', 'running', 'paused'))
 ORDER BY j.finished_at DESC
 LIMIT 1
