-- Those of some scopes that hold memories without a vector.
SELECT DISTINCT m.scope_id
  FROM engram.agent_memory m
 WHERE m.tenant_id = %(tenant_id)s AND m.scope_id = ANY(%(scope_ids)s) AND m.embed_state = 'pending'
 ORDER BY m.scope_id
