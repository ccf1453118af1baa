-- The scopes of a tenant, after one of them.
SELECT scope_id FROM engram.memory_scopes
 WHERE tenant_id = %(tenant_id)s AND scope_id > %(after)s
 ORDER BY scope_id
 LIMIT %(limit)s
