-- Note how full a scope was said to be.
UPDATE engram.memory_scopes SET warned = %(warned)s WHERE tenant_id = %(tenant_id)s AND scope_id = %(scope_id)s
