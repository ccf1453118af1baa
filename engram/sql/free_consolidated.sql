-- Give back to default reads what forgotten memories stood for.
UPDATE engram.agent_memory m
   SET consolidated_into = NULL
 WHERE m.tenant_id = %(tenant_id)s AND m.consolidated_into = ANY(%(memory_ids)s::uuid[])
RETURNING m.memory_id::text
