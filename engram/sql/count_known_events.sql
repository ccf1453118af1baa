-- How many of some events a scope holds, each in its place and with its commitment.
SELECT count(*)
  FROM unnest(%(stream_ids)s::uuid[], %(positions)s::bigint[], %(event_ids)s::uuid[], %(commitments)s::bytea[])
       n(stream_id, position, event_id, commitment)
  JOIN engram.agent_events e ON e.tenant_id = %(tenant_id)s AND e.stream_id = n.stream_id AND e.position = n.position
   AND e.event_id = n.event_id AND e.commitment = n.commitment AND e.scope_id = %(scope_id)s
