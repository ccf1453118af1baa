-- Indexes of the schema that a failed build left invalid.
SELECT i.indexrelid::regclass::text AS name
  FROM pg_index i
  JOIN pg_class c ON c.oid = i.indrelid
  JOIN pg_namespace n ON n.oid = c.relnamespace
 WHERE n.nspname = 'engram' AND NOT i.indisvalid
 ORDER BY 1
