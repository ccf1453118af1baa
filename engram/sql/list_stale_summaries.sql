-- Summaries of which something they stand for is not so any more: it was revised, forgotten or put away since.
SELECT DISTINCT s.memory_id::text
  FROM engram.agent_memory m
  JOIN engram.agent_memory s ON s.tenant_id = m.tenant_id AND s.memory_id = m.consolidated_into
 WHERE m.tenant_id = %(tenant_id)s AND m.scope_id = %(scope_id)s AND m.consolidated_into IS NOT NULL AND m.status <> 'active'
   AND s.status = 'active'
 ORDER BY s.memory_id::text
 LIMIT %(limit)s
