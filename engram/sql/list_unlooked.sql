-- Memories that have not been looked at for others of the same words.
SELECT m.memory_id::text, m.fact
  FROM engram.agent_memory m
 WHERE m.tenant_id = %(tenant_id)s AND m.scope_id = %(scope_id)s AND m.memory_id > %(after)s::uuid
   AND /*taking part*/
   AND NOT EXISTS (SELECT FROM engram.memory_looks l
                    WHERE l.tenant_id = m.tenant_id AND l.scope_id = m.scope_id AND l.memory_id = m.memory_id AND l.model_id = 0)
 ORDER BY m.memory_id
 LIMIT %(limit)s
