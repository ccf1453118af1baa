-- Let the memories of a new shadow be as private as they were known to be when it begins: reads of then hide what is private by now, and
-- what made it so is an event that the shadow meets.
UPDATE engram.agent_memory s
   SET private = false
 WHERE s.tenant_id = %(tenant_id)s AND s.scope_id = %(shadow_id)s AND s.private AND s.status_reason IS DISTINCT FROM 'erased'
   AND NOT coalesce((SELECT (c.state ->> 'private')::boolean FROM engram.memory_changes c
                      WHERE c.tenant_id = s.tenant_id AND c.memory_id = s.memory_id ORDER BY c.change_id DESC LIMIT 1), true)
