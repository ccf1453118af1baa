-- Tables of the schema on which row-level security is not forced, or that have no policy.
SELECT c.relname AS name
  FROM pg_class c
  JOIN pg_namespace n ON n.oid = c.relnamespace
 WHERE n.nspname = 'engram' AND c.relkind IN ('r', 'p')
   AND (NOT c.relrowsecurity OR NOT c.relforcerowsecurity OR NOT EXISTS (SELECT 1 FROM pg_policy p WHERE p.polrelid = c.oid))
 ORDER BY 1
