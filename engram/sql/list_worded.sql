-- The memories of a tenant that are in the word index, by id, after one of them; those of shadows where the transaction shows them.
SELECT l.memory_id::text, l.scope_id > 0 AS is_live
  FROM engram.memory_lexemes l
 WHERE l.tenant_id = %(tenant_id)s AND (%(after)s::uuid IS NULL OR l.memory_id > %(after)s::uuid)
 ORDER BY l.memory_id
 LIMIT %(limit)s
