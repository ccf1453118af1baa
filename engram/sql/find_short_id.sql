-- The memories of the readable scopes whose id ends in eight given digits.
SELECT memory_id::text
  FROM engram.agent_memory m
 WHERE tenant_id = %(tenant_id)s AND right(memory_id::text, 8) = %(ending)s AND scope_id = ANY(%(scope_ids)s)
   AND (NOT private OR scope_id = %(own)s)
 LIMIT 2
