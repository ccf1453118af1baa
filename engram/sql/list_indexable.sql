-- What the word index needs of memories: by id, or of those that rest on the events before and after some position of a stream.
SELECT m.memory_id::text, m.scope_id, m.fact, e.stream_id::text, e.position, e.occurred_at
  FROM engram.agent_memory m
  JOIN engram.agent_events e ON e.tenant_id = m.tenant_id AND e.event_id = m.event_id
 WHERE m.tenant_id = %(tenant_id)s AND m.memory_id = ANY(%(memory_ids)s::uuid[]) AND m.status_reason IS DISTINCT FROM 'erased'
UNION ALL
SELECT m.memory_id::text, m.scope_id, m.fact, e.stream_id::text, e.position, e.occurred_at
  FROM (SELECT b.event_id, b.stream_id, b.position, b.occurred_at
          FROM (SELECT x.event_id, x.stream_id, x.position, x.occurred_at FROM engram.agent_events x
                 WHERE x.tenant_id = %(tenant_id)s AND x.stream_id = %(stream_id)s::uuid AND x.position < %(first)s
                   AND x.event_type = ANY(%(spoken)s)
                 ORDER BY x.position DESC LIMIT %(before)s) b
         UNION ALL
        SELECT a.event_id, a.stream_id, a.position, a.occurred_at
          FROM (SELECT x.event_id, x.stream_id, x.position, x.occurred_at FROM engram.agent_events x
                 WHERE x.tenant_id = %(tenant_id)s AND x.stream_id = %(stream_id)s::uuid AND x.position > %(last)s
                   AND x.event_type = ANY(%(spoken)s)
                 ORDER BY x.position LIMIT %(after)s) a) e
  JOIN engram.agent_memory m ON m.tenant_id = %(tenant_id)s AND m.event_id = e.event_id
   AND m.status_reason IS DISTINCT FROM 'erased' AND (%(scope_id)s::bigint IS NULL OR m.scope_id = %(scope_id)s)
