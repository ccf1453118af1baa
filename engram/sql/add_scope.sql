-- Make a scope by its first write; nothing comes back when another writer made it first.
INSERT INTO engram.memory_scopes (tenant_id, namespace, agent_id, user_id)
VALUES (%(tenant_id)s, %(namespace)s, %(agent_id)s, %(user_id)s)
ON CONFLICT (tenant_id, namespace, agent_id, user_id) WHERE scope_id > 0 AND shelf_of IS NULL DO NOTHING
RETURNING scope_id
