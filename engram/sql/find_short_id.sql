-- The memories of the readable scopes whose id ends in given digits, at least eight of them.
SELECT memory_id::text
  FROM engram.agent_memory m
 WHERE tenant_id = %(tenant_id)s AND right(memory_id::text, 8) = right(%(ending)s::text, 8)
   AND right(replace(memory_id::text, '-', ''), length(%(ending)s::text)) = %(ending)s::text
   AND scope_id = ANY(%(scope_ids)s) AND (NOT private OR scope_id = %(own)s)
 LIMIT 2
