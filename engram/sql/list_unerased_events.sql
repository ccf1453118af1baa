-- Some events of a stream that still say something.
SELECT e.event_id::text
  FROM engram.agent_events e
  JOIN engram.agent_event_payloads p ON p.tenant_id = e.tenant_id AND p.stream_id = e.stream_id AND p.position = e.position
 WHERE e.tenant_id = %(tenant_id)s AND e.stream_id = %(stream_id)s::uuid AND e.event_type <> 'redaction'
 ORDER BY e.position
 LIMIT %(limit)s
