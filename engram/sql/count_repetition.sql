-- Count a restatement of a memory.
UPDATE engram.memory_activity
   SET repetition_count = repetition_count + 1, last_accessed_at = coalesce(%(at)s::timestamptz, clock_timestamp())
 WHERE tenant_id = %(tenant_id)s AND memory_id = %(memory_id)s::uuid
