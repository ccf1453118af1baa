-- The facts of those among some memories that take part in the life cycle of their scope.
SELECT m.memory_id::text, m.fact
  FROM engram.agent_memory m
 WHERE m.tenant_id = %(tenant_id)s AND m.scope_id = %(scope_id)s AND m.memory_id = ANY(%(memory_ids)s::uuid[])
   AND /*taking part*/
 ORDER BY m.memory_id
