-- Give a scope that holds nothing the beginning it had where it was exported.
UPDATE engram.memory_scopes s SET created_at = %(created_at)s::timestamptz, epoch = %(epoch)s
 WHERE s.tenant_id = %(tenant_id)s AND s.scope_id = %(scope_id)s
