-- Whether so many events of a scope may be in no word index: the oldest of its newest ones is not, of those outside documents, and
-- nobody has been asked yet. What came before it is not looked at, however much it is.
WITH newest AS MATERIALIZED (
  SELECT e.stream_id, e.position, e.recorded_at
    FROM engram.agent_events e
   WHERE e.tenant_id = %(tenant_id)s AND e.scope_id = %(scope_id)s
   ORDER BY e.recorded_at DESC, e.stream_id DESC, e.position DESC
   LIMIT %(least)s)
SELECT coalesce((
         SELECT o.position > coalesce((SELECT r.position FROM engram.event_readings r
                                        WHERE r.tenant_id = %(tenant_id)s AND r.scope_id = %(scope_id)s AND r.stream_id = o.stream_id), 0)
           FROM (SELECT n.stream_id, n.position
                   FROM newest n
                  WHERE (SELECT s.kind FROM engram.event_streams s
                          WHERE s.tenant_id = %(tenant_id)s AND s.stream_id = n.stream_id) <> 'document'
                  ORDER BY n.recorded_at, n.stream_id, n.position
                  LIMIT 1) o
          WHERE (SELECT count(*) FROM newest) = %(least)s
            AND NOT EXISTS (SELECT FROM engram.memory_jobs j
                             WHERE j.tenant_id = %(tenant_id)s AND j.scope_id = %(scope_id)s AND j.kind = %(kind)s
                               AND j.state IN ('queued', 'running', 'paused'))), false)
