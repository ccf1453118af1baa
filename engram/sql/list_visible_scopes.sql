-- The scopes a read may see: the named namespaces and agents, the user's rows and the agent's own; with, without or only their shelves.
SELECT scope_id, namespace, agent_id, user_id, shelf_of
  FROM engram.memory_scopes
 WHERE tenant_id = %(tenant_id)s AND scope_id > 0 AND namespace = ANY(%(namespaces)s) AND agent_id = ANY(%(agents)s)
   AND (%(all_users)s OR user_id IS NULL OR user_id = %(user_id)s::text)
   AND CASE %(shelves)s WHEN 'without' THEN shelf_of IS NULL WHEN 'only' THEN shelf_of IS NOT NULL ELSE true END
