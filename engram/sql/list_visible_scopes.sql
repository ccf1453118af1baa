-- The scopes a read may see: the named namespaces and agents, the user's rows and the agent's own; with, without or only their shelves.
SELECT s.scope_id, s.namespace, s.agent_id, s.user_id, s.shelf_of
  FROM engram.visible_scopes(%(tenant_id)s, %(namespaces)s::text[], %(agents)s::text[], %(user_id)s, %(all_users)s, %(shelves)s) s
