-- Whether a memory is of another scope than the one that is derived again.
SELECT EXISTS (SELECT FROM engram.agent_memory m
                WHERE m.tenant_id = %(tenant_id)s AND m.memory_id = %(memory_id)s::uuid
                  AND m.scope_id > 0 AND m.scope_id <> %(scope_id)s)
    OR EXISTS (SELECT FROM engram.agent_memory m
                WHERE m.tenant_id = %(tenant_id)s AND right(m.memory_id::text, 8) = %(ending)s
                  AND m.scope_id > 0 AND m.scope_id <> %(scope_id)s)
