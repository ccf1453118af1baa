-- The events that gave some memories their words: those they rest on, and those that changed them, in the order they were recorded.
-- Of the events of the life cycle only those the memories rest on: others change many memories at once, without words.
SELECT e.event_id::text
  FROM engram.agent_events e
 WHERE e.tenant_id = %(tenant_id)s AND e.event_type <> 'redaction' AND e.event_id IN (
         SELECT m.event_id FROM engram.agent_memory m WHERE m.tenant_id = %(tenant_id)s AND m.memory_id = ANY (%(memory_ids)s::uuid[])
          UNION
         SELECT q.event_id FROM engram.memory_sources q WHERE q.tenant_id = %(tenant_id)s AND q.memory_id = ANY (%(memory_ids)s::uuid[])
          UNION
         SELECT c.event_id FROM engram.memory_changes c
           JOIN engram.agent_events x ON x.tenant_id = c.tenant_id AND x.event_id = c.event_id AND x.event_type <> %(lifecycle)s
          WHERE c.tenant_id = %(tenant_id)s AND c.memory_id = ANY (%(memory_ids)s::uuid[])
            AND c.entry IN ('added', 'revised', 'reinforced', 'annotated', 'conflict'))
 ORDER BY e.recorded_at, e.stream_id, e.position
