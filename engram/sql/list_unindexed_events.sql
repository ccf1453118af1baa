-- The next events whose words are to be written, stream by stream, each from where it was left: so many, and so many bytes.
WITH behind AS (
  SELECT s.stream_id, coalesce(r.position, 0) AS position,
         sum(s.position - coalesce(r.position, 0)) OVER (ORDER BY s.stream_id) - (s.position - coalesce(r.position, 0)) AS before
    FROM engram.event_streams s
    LEFT JOIN engram.event_readings r
      ON r.tenant_id = s.tenant_id AND r.scope_id = s.scope_id AND r.stream_id = s.stream_id
   WHERE s.tenant_id = %(tenant_id)s AND s.scope_id = %(scope_id)s AND s.kind <> 'document' AND s.position > coalesce(r.position, 0)),
waiting AS (
  SELECT e.stream_id, e.position, e.event_type, e.actor, e.occurred_at, p.body, row_number() OVER o AS place,
         sum(coalesce(octet_length(p.body), 0)) OVER o - coalesce(octet_length(p.body), 0) AS bytes
    FROM behind b
   CROSS JOIN LATERAL (
         SELECT x.stream_id, x.position, x.event_type, x.actor, x.occurred_at
           FROM engram.agent_events x
          WHERE x.tenant_id = %(tenant_id)s AND x.stream_id = b.stream_id AND x.position > b.position
          ORDER BY x.position
          LIMIT %(limit)s) e
    LEFT JOIN engram.agent_event_payloads p
      ON p.tenant_id = %(tenant_id)s AND p.stream_id = e.stream_id AND p.position = e.position
   WHERE b.before < %(limit)s
  WINDOW o AS (ORDER BY e.stream_id, e.position))
SELECT w.stream_id::text, w.position, w.event_type, w.actor, w.occurred_at, w.body
  FROM waiting w
 WHERE w.place <= %(limit)s AND w.bytes < %(bytes)s
 ORDER BY w.place
