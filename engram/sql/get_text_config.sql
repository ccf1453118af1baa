-- The text search configuration of a tenant; no row before its first memory.
SELECT c.config FROM engram.text_search_configs c WHERE c.tenant_id = %(tenant_id)s
