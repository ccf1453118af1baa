-- The id of exactly one scope.
SELECT scope_id
  FROM engram.memory_scopes
 WHERE tenant_id = %(tenant_id)s AND scope_id > 0 AND shelf_of IS NULL AND namespace = %(namespace)s AND agent_id = %(agent_id)s
   AND user_id IS NOT DISTINCT FROM %(user_id)s::text
