-- The last change of a scope's memories that a cycle has taken account of.
UPDATE engram.memory_scopes SET cycled_change_id = greatest(cycled_change_id, %(change_id)s)
 WHERE tenant_id = %(tenant_id)s AND scope_id = %(scope_id)s
