-- Put away the summaries that tell some memories.
UPDATE engram.agent_memory s
   SET status = 'archived', status_reason = 'stale'
 WHERE s.tenant_id = %(tenant_id)s AND s.status = 'active'
   AND s.memory_id IN (SELECT m.consolidated_into FROM engram.agent_memory m
                        WHERE m.tenant_id = %(tenant_id)s AND m.memory_id = ANY(%(memory_ids)s::uuid[]))
RETURNING s.memory_id::text
