-- Note the text search configuration of a tenant, unless it has one.
INSERT INTO engram.text_search_configs (tenant_id, config) VALUES (%(tenant_id)s, %(config)s) ON CONFLICT DO NOTHING
