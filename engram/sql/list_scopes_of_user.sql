-- Every scope of one user, whatever its namespace and agent, with its shelves.
SELECT s.scope_id
  FROM engram.memory_scopes s
 WHERE s.tenant_id = %(tenant_id)s AND s.scope_id > 0 AND s.user_id = %(user_id)s
