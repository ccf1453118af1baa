-- How many memories of a scope wait for a vector, and how many there are.
SELECT count(*) FILTER (WHERE embed_state = 'pending') AS pending, count(*) AS memories
  FROM engram.agent_memory WHERE tenant_id = %(tenant_id)s AND scope_id = %(scope_id)s
