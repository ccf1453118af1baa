-- The text search configurations of the server that a plain name reaches.
SELECT c.cfgname::text
  FROM pg_catalog.pg_ts_config c
 WHERE pg_catalog.pg_ts_config_is_visible(c.oid)
 ORDER BY c.cfgname
