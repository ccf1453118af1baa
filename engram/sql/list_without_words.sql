-- Of some memories those whose own words hold none of the words to do without; memories in no word index stay.
SELECT i.memory_id::text
  FROM unnest(%(memory_ids)s::uuid[]) i(memory_id)
  LEFT JOIN engram.memory_lexemes l
    ON l.tenant_id = %(tenant_id)s AND l.memory_id = i.memory_id AND l.scope_id = ANY(%(scope_ids)s)
 WHERE l.memory_id IS NULL OR NOT l.lexemes @@ %(without)s::tsquery
