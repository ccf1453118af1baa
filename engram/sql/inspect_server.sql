-- Versions and durability settings of the server, and whether it takes no writes: a standby, or set so.
SELECT current_setting('server_version_num')::integer AS version, current_setting('server_version') AS version_text,
       (SELECT extversion FROM pg_extension WHERE extname = 'vector') AS vector,
       (SELECT n.nspname FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace WHERE e.extname = 'vector') AS place,
       current_setting('fsync') AS fsync, current_setting('full_page_writes') AS full_page_writes,
       current_setting('server_encoding') AS encoding,
       pg_is_in_recovery() OR current_setting('default_transaction_read_only') = 'on' AS read_only
