-- The newest events that are allowed and still say something, for a question without words.
SELECT e.event_id::text
  FROM engram.agent_events e
 WHERE /*allowed*/
   AND EXISTS (SELECT FROM engram.agent_event_payloads p
                WHERE p.tenant_id = e.tenant_id AND p.stream_id = e.stream_id AND p.position = e.position)
 ORDER BY e.recorded_at DESC, e.stream_id DESC, e.position DESC
 LIMIT %(limit)s
