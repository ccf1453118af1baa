-- The events of some scopes that still say something, in the order they were recorded, up to a time: all of them, those of a session with
-- all its parts, or those that memories of a source rest on.
SELECT e.event_id::text, e.stream_id::text, e.position, e.recorded_at
  FROM engram.agent_events e
  JOIN engram.agent_event_payloads p ON p.tenant_id = e.tenant_id AND p.stream_id = e.stream_id AND p.position = e.position
 WHERE e.tenant_id = %(tenant_id)s AND e.scope_id = ANY (%(scope_ids)s) AND e.event_type <> 'redaction'
   AND e.recorded_at <= %(until)s
   AND (%(session_id)s::text IS NULL OR e.session_id IN (
         SELECT s.session_id FROM engram.agent_sessions s
          WHERE s.tenant_id = %(tenant_id)s AND s.scope_id = ANY (%(scope_ids)s) AND s.root IN (
                SELECT o.root FROM engram.agent_sessions o
                 WHERE o.tenant_id = %(tenant_id)s AND o.scope_id = ANY (%(scope_ids)s) AND o.session_id = %(session_id)s)
          UNION ALL SELECT %(session_id)s))
   AND (%(source)s::text IS NULL OR e.event_id IN (
         SELECT m.event_id FROM engram.agent_memory m
          WHERE m.tenant_id = %(tenant_id)s AND m.scope_id = ANY (%(scope_ids)s) AND m.source = %(source)s
          UNION ALL
         SELECT q.event_id FROM engram.agent_memory m
           JOIN engram.memory_sources q ON q.tenant_id = m.tenant_id AND q.memory_id = m.memory_id
          WHERE m.tenant_id = %(tenant_id)s AND m.scope_id = ANY (%(scope_ids)s) AND m.source = %(source)s))
   AND (%(after_at)s::timestamptz IS NULL
     OR (e.recorded_at, e.stream_id, e.position) > (%(after_at)s, %(after_stream)s::uuid, %(after_position)s::bigint))
 ORDER BY e.recorded_at, e.stream_id, e.position
 LIMIT %(limit)s
