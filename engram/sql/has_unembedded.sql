-- Whether a current memory of a scope waits for its vector.
SELECT EXISTS (SELECT FROM engram.agent_memory m
                WHERE m.tenant_id = %(tenant_id)s AND m.scope_id = %(scope_id)s AND m.embed_state = 'pending' AND m.status = 'active')
