-- Say that a memory stopped holding at a moment; the one that took its place may have begun before.
UPDATE engram.agent_memory m
   SET ended_at = coalesce(%(at)s::timestamptz, clock_timestamp()),
       valid_to = least(
         CASE WHEN m.put_away THEN m.superseded_at
              ELSE (SELECT h.valid_from FROM engram.agent_memory h
                     WHERE h.tenant_id = m.tenant_id AND h.memory_id = m.superseded_by) END,
         coalesce(%(at)s::timestamptz, clock_timestamp()))
 WHERE m.tenant_id = %(tenant_id)s AND m.memory_id = %(memory_id)s::uuid
