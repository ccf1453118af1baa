-- The events of the chunks of a document that hold characters of a span of it.
SELECT m.event_id::text
  FROM engram.agent_memory m
  JOIN engram.memory_scopes s ON s.tenant_id = m.tenant_id AND s.scope_id = m.scope_id AND s.shelf_of = %(scope_id)s
 WHERE m.tenant_id = %(tenant_id)s AND m.category = %(category)s AND m.metadata->>'document' = %(stream_id)s
   AND (m.metadata->>'char_start')::bigint < %(char_end)s AND (m.metadata->>'char_end')::bigint > %(char_start)s
 ORDER BY 1
