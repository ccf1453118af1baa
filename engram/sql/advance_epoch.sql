-- One more epoch of a scope.
UPDATE engram.memory_scopes SET epoch = epoch + 1 WHERE tenant_id = %(tenant_id)s AND scope_id = %(scope_id)s
