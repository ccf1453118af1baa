-- The memories that one event forgot.
SELECT c.memory_id::text
  FROM engram.memory_changes c
 WHERE c.tenant_id = %(tenant_id)s AND c.event_id = %(event_id)s::uuid AND c.entry = 'forgotten'
 ORDER BY c.change_id
