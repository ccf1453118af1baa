-- Put away the summaries that tell, of some memories, what is not current, is private or has an end by now.
UPDATE engram.agent_memory s
   SET status = 'archived', status_reason = 'stale'
 WHERE s.tenant_id = %(tenant_id)s AND s.status = 'active'
   AND s.memory_id IN (SELECT m.consolidated_into FROM engram.agent_memory m
                        WHERE m.tenant_id = %(tenant_id)s AND m.memory_id = ANY(%(memory_ids)s::uuid[])
                          AND (m.status <> 'active' OR m.moot OR m.private OR m.ended_at IS NOT NULL OR m.expires_at IS NOT NULL))
RETURNING s.memory_id::text
