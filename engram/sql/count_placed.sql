-- How many memories of a scope a tree of topics is made of, whether or not they have a vector.
SELECT count(*) FROM engram.agent_memory m WHERE m.tenant_id = %(tenant_id)s AND m.scope_id = %(scope_id)s AND /*placed*/
