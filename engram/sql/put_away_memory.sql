-- Supersede a row by an explicit act: it keeps its place in its lineage and is never head again.
UPDATE engram.agent_memory
   SET status = 'superseded', put_away = true, superseded_by = %(superseded_by)s::uuid, superseded_at = %(at)s,
       valid_to = coalesce(valid_to, greatest(valid_from, %(at)s)), status_reason = 'explicit'
 WHERE tenant_id = %(tenant_id)s AND memory_id = %(memory_id)s::uuid
