-- Who the queries run as, and who logged in; and which of the roles that pass or may alter the wall each may become, by which of its own.
WITH apart AS (SELECT o.oid, o.rolname FROM pg_roles o WHERE o.rolname IN ('engram_owner', 'engram_scheduler'))
SELECT current_user AS role, r.rolsuper AS super, r.rolbypassrls AS bypass, session_user AS session_role,
       s.rolsuper AS session_super, s.rolbypassrls AS session_bypass, session_user = 'engram_app' AS session_is_app,
       (SELECT string_agg(a.rolname, ' and ' ORDER BY a.rolname) FROM apart a WHERE pg_has_role(r.oid, a.oid, 'member')) AS becomes,
       (SELECT string_agg(a.rolname, ' and ' ORDER BY a.rolname) FROM apart a WHERE pg_has_role(s.oid, a.oid, 'member')) AS session_becomes,
       (SELECT string_agg(quote_ident(g.rolname), ', ' ORDER BY g.rolname)
          FROM pg_auth_members m
          JOIN pg_roles g ON g.oid = m.roleid
         WHERE m.member = r.oid AND EXISTS (SELECT FROM apart a WHERE pg_has_role(g.oid, a.oid, 'member'))) AS through
  FROM pg_roles r, pg_roles s
 WHERE r.rolname = current_user AND s.rolname = session_user
