-- How many current memories of a scope the life cycle may ever put away, of those layers.
SELECT count(*)
  FROM engram.agent_memory m
 WHERE m.tenant_id = %(tenant_id)s AND m.scope_id = %(scope_id)s AND m.status = 'active' AND NOT m.moot
   AND m.consolidated_into IS NULL AND coalesce(m.category, '') NOT IN ('verbatim', 'source_chunk') AND m.layer = ANY(%(layers)s)
