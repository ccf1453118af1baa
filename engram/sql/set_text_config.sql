-- Give a tenant another text search configuration, if the server knows it; the number of rows says whether it does.
INSERT INTO engram.text_search_configs (tenant_id, config)
SELECT %(tenant_id)s, c.cfgname
  FROM pg_catalog.pg_ts_config c
 WHERE c.cfgname = %(config)s::text AND pg_catalog.pg_ts_config_is_visible(c.oid)
ON CONFLICT (tenant_id) DO UPDATE SET config = excluded.config, changed_at = clock_timestamp()
