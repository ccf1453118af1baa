-- The newest events that are allowed and in no word index yet, and how many events wait for it in all, which the first row says
-- even where nothing is allowed. Headers are looked at widely; bodies are read so many, and so many bytes.
WITH behind AS MATERIALIZED (
  SELECT s.stream_id, coalesce(r.position, 0) AS position, s.position - coalesce(r.position, 0) AS waiting,
         sum(s.position - coalesce(r.position, 0)) OVER (ORDER BY s.recorded_at DESC, s.stream_id) AS upto
    FROM engram.event_streams s
    LEFT JOIN engram.event_readings r
      ON r.tenant_id = s.tenant_id AND r.scope_id = s.scope_id AND r.stream_id = s.stream_id
   WHERE s.tenant_id = %(tenant_id)s AND s.scope_id = ANY(%(scope_ids)s) AND s.kind <> 'document' AND s.position > coalesce(r.position, 0)),
newest AS MATERIALIZED (
  SELECT e.stream_id, e.position, e.recorded_at, e.actor
    FROM behind b
   CROSS JOIN LATERAL (
         SELECT x.tenant_id, x.scope_id, x.stream_id, x.position, x.event_id, x.event_type, x.role, x.actor, x.session_id,
                x.task_run_id, x.occurred_at, x.recorded_at
           FROM engram.agent_events x
          WHERE x.tenant_id = %(tenant_id)s AND x.stream_id = b.stream_id AND x.position > b.position
          ORDER BY x.position DESC
          LIMIT %(looked)s) e
   WHERE b.upto - b.waiting < %(looked)s AND /*allowed*/),
chosen AS (
  SELECT n.stream_id, n.position, n.recorded_at, n.actor, p.body,
         sum(octet_length(p.body)) OVER (ORDER BY n.recorded_at DESC, n.stream_id, n.position DESC) - octet_length(p.body) AS bytes
    FROM (SELECT x.stream_id, x.position, x.recorded_at, x.actor FROM newest x ORDER BY x.recorded_at DESC, x.stream_id, x.position DESC LIMIT %(limit)s) n
    JOIN engram.agent_event_payloads p
      ON p.tenant_id = %(tenant_id)s AND p.stream_id = n.stream_id AND p.position = n.position)
SELECT t.waiting, t.allowed, t.left_out, c.stream_id::text, c.position, c.actor, c.body
  FROM (SELECT (SELECT coalesce(sum(b.waiting), 0) FROM behind b)::bigint AS waiting,
               (SELECT count(*) FROM newest) AS allowed,
               EXISTS (SELECT FROM chosen x WHERE x.bytes >= %(bytes)s) AS left_out) t
  LEFT JOIN chosen c ON c.bytes < %(bytes)s
 ORDER BY c.recorded_at DESC, c.stream_id, c.position DESC
