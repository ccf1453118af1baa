-- Count a restatement of a memory.
UPDATE engram.memory_activity a
   SET repetition_count = a.repetition_count + 1, last_accessed_at = coalesce(%(at)s::timestamptz, clock_timestamp()),
       accessed_epoch = (SELECT s.epoch FROM engram.memory_scopes s WHERE s.tenant_id = a.tenant_id AND s.scope_id = a.scope_id)
 WHERE a.tenant_id = %(tenant_id)s AND a.memory_id = %(memory_id)s::uuid
