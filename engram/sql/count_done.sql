-- How many memories some runs changed.
SELECT count(DISTINCT c.memory_id) AS memories
  FROM engram.memory_changes c
 WHERE c.tenant_id = %(tenant_id)s AND c.run_id = ANY(%(run_ids)s::uuid[]) AND c.state IS NOT NULL
   AND EXISTS (SELECT FROM engram.agent_memory m
                WHERE m.tenant_id = c.tenant_id AND m.memory_id = c.memory_id AND m.scope_id = ANY(%(scope_ids)s)
                  AND (NOT m.private OR m.scope_id = %(own)s))
