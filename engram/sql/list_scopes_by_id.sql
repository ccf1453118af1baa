-- Scopes by their numbers.
SELECT scope_id, namespace, agent_id, user_id FROM engram.memory_scopes
 WHERE tenant_id = %(tenant_id)s AND scope_id = ANY (%(scope_ids)s)
