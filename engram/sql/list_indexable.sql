-- What the word index needs of memories: by id, or of those that rest on the events before and after some position of a stream.
-- One by one: of a list the planner would guess that reading the whole tenant is as cheap.
SELECT m.memory_id::text, m.scope_id, m.fact, e.stream_id::text, e.position, e.occurred_at
  FROM unnest(%(memory_ids)s::uuid[]) g (memory_id)
 CROSS JOIN LATERAL (
       SELECT o.memory_id, o.scope_id, o.fact, o.event_id
         FROM engram.agent_memory o
        WHERE o.tenant_id = %(tenant_id)s AND o.memory_id = g.memory_id AND o.status_reason IS DISTINCT FROM 'erased'
        LIMIT 1) m
 CROSS JOIN LATERAL (
       SELECT x.stream_id, x.position, x.occurred_at
         FROM engram.agent_events x
        WHERE x.tenant_id = %(tenant_id)s AND x.event_id = m.event_id
        LIMIT 1) e
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
 CROSS JOIN LATERAL (
       SELECT o.memory_id, o.scope_id, o.fact
         FROM engram.agent_memory o
        WHERE o.tenant_id = %(tenant_id)s AND o.event_id = e.event_id AND o.status_reason IS DISTINCT FROM 'erased'
          AND (%(scope_id)s::bigint IS NULL OR o.scope_id = %(scope_id)s)
       OFFSET 0) m
