-- Make a scope's shelf by its first document; nothing comes back when another writer made it first.
INSERT INTO engram.memory_scopes (tenant_id, namespace, agent_id, user_id, shelf_of)
SELECT tenant_id, namespace, agent_id, user_id, scope_id
  FROM engram.memory_scopes
 WHERE tenant_id = %(tenant_id)s AND scope_id = %(scope_id)s
    ON CONFLICT (tenant_id, shelf_of) WHERE shelf_of IS NOT NULL DO NOTHING
RETURNING scope_id
