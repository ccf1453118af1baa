-- The id of exactly one scope. `IS NOT DISTINCT FROM` would take no index, and read every user of the tenant.
SELECT scope_id
  FROM engram.memory_scopes
 WHERE tenant_id = %(tenant_id)s AND scope_id > 0 AND shelf_of IS NULL AND namespace = %(namespace)s AND agent_id = %(agent_id)s
   AND (user_id = %(user_id)s::text OR %(user_id)s::text IS NULL AND user_id IS NULL)
