-- The pinned memories of the readable scopes, the newest first.
SELECT m.memory_id::text
  FROM engram.agent_memory m
 WHERE m.tenant_id = %(tenant_id)s AND m.scope_id = ANY(%(scope_ids)s) AND m.critical_slot IS NOT NULL AND m.status = 'active'
   AND NOT m.moot AND (NOT m.private OR m.scope_id = %(own)s)
 ORDER BY m.recorded_at DESC, m.memory_id
 LIMIT %(limit)s
