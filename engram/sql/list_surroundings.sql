-- What was said around some events of conversations: the events of their streams from eight before to five after. The streams
-- of a scope's direct changes are no conversation.
SELECT w.stream_id::text AS stream_id, w.position AS centre, e.position, e.event_type, e.actor, e.occurred_at, p.body
  FROM unnest(%(stream_ids)s::uuid[], %(positions)s::bigint[]) w(stream_id, position)
  JOIN engram.event_streams s ON s.tenant_id = %(tenant_id)s AND s.stream_id = w.stream_id AND s.kind <> 'scope'
  JOIN engram.agent_events e
    ON e.tenant_id = %(tenant_id)s AND e.stream_id = w.stream_id AND e.position BETWEEN w.position - 8 AND w.position + 5
   AND (e.position = w.position OR e.event_type = ANY(%(spoken)s))
  LEFT JOIN engram.agent_event_payloads p
    ON p.tenant_id = e.tenant_id AND p.stream_id = e.stream_id AND p.position = e.position
   AND octet_length(p.body) <= 65536 AND e.position <> w.position
 ORDER BY w.stream_id, w.position, e.position
