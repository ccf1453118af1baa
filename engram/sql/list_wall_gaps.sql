-- What lets the application role pass what the schema holds it to, with the statement that mends it: a policy that opens a table beside
-- the tenant's, a right to change or take away what is in the ledger, a trigger that is switched off, a table that is somebody else's.
WITH held AS (   -- of a superuser, or of who may become the owner, all else says nothing
  SELECT FROM pg_roles a
   WHERE a.rolname = 'engram_app' AND NOT a.rolsuper
     AND NOT EXISTS (SELECT FROM pg_roles o WHERE o.rolname IN ('engram_owner', 'engram_scheduler') AND pg_has_role(a.oid, o.oid, 'member')))
SELECT format('the policy %s opens %s', p.polname, c.relname) AS gap,
       format('DROP POLICY %I ON engram.%I', p.polname, c.relname) AS repair
  FROM pg_policy p
  JOIN pg_class c ON c.oid = p.polrelid
 WHERE c.relnamespace = 'engram'::regnamespace AND p.polpermissive AND EXISTS (SELECT FROM held)
   AND EXISTS (SELECT FROM unnest(p.polroles) r (role) WHERE CASE r.role WHEN 0 THEN true ELSE pg_has_role('engram_app', r.role, 'usage') END)
   AND (p.polcmd <> 'a' AND strpos(coalesce(pg_get_expr(p.polqual, p.polrelid), ''), 'current_tenant()') = 0
     OR p.polwithcheck IS NOT NULL AND strpos(pg_get_expr(p.polwithcheck, p.polrelid), 'current_tenant()') = 0)
UNION ALL
SELECT format('engram_app may %s %s', r.privilege, t.name), format('REVOKE %s ON engram.%s FROM engram_app, PUBLIC', r.privilege, t.name)
  FROM unnest('{agent_events,agent_event_payloads}'::text[]) t (name)
 CROSS JOIN unnest('{UPDATE,DELETE,TRUNCATE}'::text[]) r (privilege)
 WHERE EXISTS (SELECT FROM held) AND has_table_privilege('engram_app', 'engram.' || t.name, r.privilege)
UNION ALL
SELECT format('%s is owned by %s', c.relname, c.relowner::regrole), format('ALTER TABLE engram.%I OWNER TO engram_owner', c.relname)
  FROM pg_class c
 WHERE c.relnamespace = 'engram'::regnamespace AND c.relkind IN ('r', 'p', 'v') AND c.relowner <> to_regrole('engram_owner')
UNION ALL
SELECT format('the trigger %s of %s is switched off', g.tgname, c.relname), format('ALTER TABLE engram.%I ENABLE TRIGGER %I', c.relname, g.tgname)
  FROM pg_trigger g
  JOIN pg_class c ON c.oid = g.tgrelid
 WHERE c.relnamespace = 'engram'::regnamespace AND g.tgenabled IN ('D', 'R')
 ORDER BY 1
