-- The heads of streams with the last position that is really there, to verify them one after another.
SELECT s.tenant_id, s.stream_id, s.scope_id, s.position, s.head_hash,
       (SELECT max(e.position) FROM engram.agent_events e
         WHERE e.tenant_id = s.tenant_id AND e.stream_id = s.stream_id) AS last_position
  FROM engram.event_streams s
 WHERE s.tenant_id = engram.current_tenant()
   AND (%(after)s::uuid IS NULL OR s.stream_id > %(after)s)
   AND (%(stream_ids)s::uuid[] IS NULL OR s.stream_id = ANY (%(stream_ids)s))
   AND (%(scope_ids)s::bigint[] IS NULL OR s.scope_id = ANY (%(scope_ids)s))
 ORDER BY s.stream_id
 LIMIT %(limit)s
