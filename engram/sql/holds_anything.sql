-- Whether a scope holds any stream or memory.
SELECT EXISTS (SELECT FROM engram.event_streams s WHERE s.tenant_id = %(tenant_id)s AND s.scope_id = %(scope_id)s)
    OR EXISTS (SELECT FROM engram.agent_memory m WHERE m.tenant_id = %(tenant_id)s AND m.scope_id = %(scope_id)s)
