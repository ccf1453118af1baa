-- The distilled memories that rest on some events, and their statuses at a moment.
SELECT q.event_id::text, m.memory_id::text, m.status
  FROM engram.memories_at(%(scope_ids)s, %(as_of)s::timestamptz, %(known_at)s::timestamptz) m
  JOIN engram.memory_sources q ON q.tenant_id = m.tenant_id AND q.memory_id = m.memory_id
 WHERE m.tenant_id = %(tenant_id)s AND m.scope_id = ANY(%(scope_ids)s) AND q.event_id = ANY(%(event_ids)s::uuid[])
   AND q.recorded_at <= coalesce(%(known_at)s::timestamptz, 'infinity')
   AND coalesce(m.category, '') NOT IN ('verbatim', 'source_chunk')
