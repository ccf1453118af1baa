-- Which of some events of a scope there are, and whether what each said was erased.
SELECT e.event_id::text, p.position IS NULL AS erased
  FROM engram.agent_events e
  LEFT JOIN engram.agent_event_payloads p
    ON p.tenant_id = e.tenant_id AND p.stream_id = e.stream_id AND p.position = e.position
 WHERE e.tenant_id = %(tenant_id)s AND e.scope_id = %(scope_id)s AND e.event_id = ANY(%(event_ids)s::uuid[])
