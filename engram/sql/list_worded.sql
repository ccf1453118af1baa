-- The memories of a tenant that are in the word index, by id, after one of them; shadows are left to their replay.
SELECT l.memory_id::text
  FROM engram.memory_lexemes l
 WHERE l.tenant_id = %(tenant_id)s AND (%(after)s::uuid IS NULL OR l.memory_id > %(after)s::uuid)
 ORDER BY l.memory_id
 LIMIT %(limit)s
