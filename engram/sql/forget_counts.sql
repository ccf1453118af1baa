-- Drop the kept document frequencies of a tenant: they are of other words, and are counted until they are kept anew.
DELETE FROM engram.memory_terms t WHERE t.tenant_id = %(tenant_id)s
