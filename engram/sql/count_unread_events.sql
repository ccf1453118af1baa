-- How many events of a scope are in its word index, or were read for it, and how many are not.
SELECT coalesce(sum(r.position), 0)::bigint AS read, coalesce(sum(s.position - coalesce(r.position, 0)), 0)::bigint AS waiting
  FROM engram.event_streams s
  LEFT JOIN engram.event_readings r
    ON r.tenant_id = s.tenant_id AND r.scope_id = s.scope_id AND r.stream_id = s.stream_id
 WHERE s.tenant_id = %(tenant_id)s AND s.scope_id = %(scope_id)s AND s.kind <> 'document'
