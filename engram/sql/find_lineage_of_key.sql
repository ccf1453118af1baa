-- The lineages of a conflict key in the readable scopes.
SELECT DISTINCT lineage_id::text, scope_id
  FROM engram.agent_memory m
 WHERE tenant_id = %(tenant_id)s AND scope_id = ANY(%(scope_ids)s) AND conflict_key = %(conflict_key)s
   AND (NOT private OR scope_id = %(own)s)
