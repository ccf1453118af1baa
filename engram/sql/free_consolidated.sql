-- Give back to default reads what some memories stood for, those of them that are not current or have an end by now.
UPDATE engram.agent_memory m
   SET consolidated_into = NULL
 WHERE m.tenant_id = %(tenant_id)s AND m.consolidated_into = ANY(%(memory_ids)s::uuid[])
   AND EXISTS (SELECT FROM engram.agent_memory s
                WHERE s.tenant_id = m.tenant_id AND s.memory_id = m.consolidated_into
                  AND (s.status <> 'active' OR s.moot OR s.ended_at IS NOT NULL OR s.expires_at IS NOT NULL))
RETURNING m.memory_id::text, m.status
