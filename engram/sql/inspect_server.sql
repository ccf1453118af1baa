-- Versions and durability settings of the server.
SELECT current_setting('server_version_num')::integer AS version, current_setting('server_version') AS version_text,
       (SELECT extversion FROM pg_extension WHERE extname = 'vector') AS vector,
       current_setting('fsync') AS fsync, current_setting('full_page_writes') AS full_page_writes,
       current_setting('server_encoding') AS encoding
