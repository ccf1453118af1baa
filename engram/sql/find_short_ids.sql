-- The memories of the readable scopes whose ids end in some of the given digits, eight each.
SELECT memory_id::text AS memory_id
  FROM engram.agent_memory m
 WHERE tenant_id = %(tenant_id)s AND right(memory_id::text, 8) = ANY(%(endings)s::text[])
   AND scope_id = ANY(%(scope_ids)s) AND (NOT private OR scope_id = %(own)s)
