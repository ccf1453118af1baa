-- The memories a memory supersedes.
SELECT m.memory_id::text
  FROM engram.agent_memory m
 WHERE m.tenant_id = %(tenant_id)s AND m.scope_id = ANY(%(scope_ids)s) AND m.superseded_by = %(memory_id)s::uuid
   AND (NOT m.private OR m.scope_id = %(own)s)
 ORDER BY m.revision DESC
