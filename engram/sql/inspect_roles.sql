-- Who the queries run as, and who logged in.
SELECT current_user AS role, r.rolsuper AS super, r.rolbypassrls AS bypass, session_user AS session_role,
       s.rolsuper AS session_super, s.rolbypassrls AS session_bypass, session_user = 'engram_app' AS session_is_app
  FROM pg_roles r, pg_roles s
 WHERE r.rolname = current_user AND s.rolname = session_user
