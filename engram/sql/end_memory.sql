-- Say that a memory stopped holding at a moment.
UPDATE engram.agent_memory
   SET ended_at = coalesce(%(at)s::timestamptz, clock_timestamp()),
       valid_to = least(valid_to, coalesce(%(at)s::timestamptz, clock_timestamp()))
 WHERE tenant_id = %(tenant_id)s AND memory_id = %(memory_id)s::uuid
