-- How full a scope was said to be, under a lock.
SELECT s.warned FROM engram.memory_scopes s WHERE s.tenant_id = %(tenant_id)s AND s.scope_id = %(scope_id)s FOR NO KEY UPDATE
