-- The event that a memory came of which was erased since; nothing of a memory that was not.
SELECT m.event_id::text
  FROM engram.agent_memory m
 WHERE m.tenant_id = %(tenant_id)s AND m.scope_id = %(scope_id)s AND m.status_reason = 'erased'
   AND (m.memory_id = %(memory_id)s::uuid OR right(m.memory_id::text, 8) = %(ending)s)
 ORDER BY m.memory_id
 LIMIT 1
