-- Forget the document frequencies of a scope, before they are counted anew.
DELETE FROM engram.memory_terms WHERE tenant_id = %(tenant_id)s AND scope_id = %(scope_id)s
