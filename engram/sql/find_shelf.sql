-- The scope where the chunks of a scope's documents are kept.
SELECT scope_id FROM engram.memory_scopes WHERE tenant_id = %(tenant_id)s AND shelf_of = %(scope_id)s
