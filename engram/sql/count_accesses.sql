-- Count that memories were returned; a busy counter is left alone, since it may lose a beat.
UPDATE engram.memory_activity a SET access_count = a.access_count + 1, last_accessed_at = clock_timestamp(),
       accessed_epoch = (SELECT s.epoch FROM engram.memory_scopes s WHERE s.tenant_id = a.tenant_id AND s.scope_id = a.scope_id)
 WHERE a.tenant_id = %(tenant_id)s AND a.memory_id IN (
       SELECT b.memory_id FROM engram.memory_activity b
        WHERE b.tenant_id = %(tenant_id)s AND b.memory_id = ANY(%(memory_ids)s::uuid[]) ORDER BY b.memory_id FOR UPDATE SKIP LOCKED)
