-- The last change of a scope's memories that is no doing of the life cycle, after one that is known.
SELECT c.change_id
  FROM engram.memory_changes c
 WHERE c.tenant_id = %(tenant_id)s AND c.scope_id = %(scope_id)s AND c.change_id > %(after)s
   AND c.run_id IS NULL AND c.entry <> 'embedded'
 ORDER BY c.change_id DESC
 LIMIT 1
