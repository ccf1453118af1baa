-- The memories of some scopes that say something and are not in the word index, by id.
SELECT m.memory_id::text
  FROM engram.agent_memory m
 WHERE m.tenant_id = %(tenant_id)s AND m.scope_id = ANY(%(scope_ids)s) AND m.fact <> '' AND m.memory_id > %(after)s::uuid
   AND NOT EXISTS (SELECT FROM engram.memory_lexemes l WHERE l.tenant_id = m.tenant_id AND l.memory_id = m.memory_id)
 ORDER BY m.memory_id
 LIMIT %(limit)s
