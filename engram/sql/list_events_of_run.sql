-- The events by which runs, or one event itself, changed memories.
SELECT DISTINCT c.event_id::text
  FROM engram.memory_changes c
 WHERE c.tenant_id = %(tenant_id)s AND c.event_id IS NOT NULL
   AND (c.run_id = ANY(%(run_ids)s::uuid[]) OR c.event_id = %(event_id)s::uuid)
