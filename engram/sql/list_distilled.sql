-- The distilled memories that rest on some events, and their statuses now.
SELECT q.event_id::text, m.memory_id::text, m.status
  FROM engram.memory_sources q
  JOIN engram.agent_memory m ON m.tenant_id = q.tenant_id AND m.memory_id = q.memory_id
 WHERE q.tenant_id = %(tenant_id)s AND q.event_id = ANY(%(event_ids)s::uuid[]) AND m.scope_id = ANY(%(scope_ids)s)
   AND coalesce(m.category, '') NOT IN ('verbatim', 'source_chunk')
