-- The memories that some summaries stand for.
SELECT m.memory_id::text, m.consolidated_into::text AS summary_id, m.scope_id
  FROM engram.agent_memory m
 WHERE m.tenant_id = %(tenant_id)s AND m.consolidated_into = ANY(%(memory_ids)s::uuid[])
 ORDER BY m.memory_id
