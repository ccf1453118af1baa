-- The events that rated a memory, oldest first.
SELECT c.event_id::text
  FROM engram.memory_changes c
  JOIN engram.lifecycle_runs r ON r.tenant_id = c.tenant_id AND r.run_id = c.run_id
 WHERE c.tenant_id = %(tenant_id)s AND c.memory_id = %(memory_id)s::uuid AND r.step = 'feedback' AND c.event_id IS NOT NULL
   AND (%(known_at)s::timestamptz IS NULL OR c.recorded_at <= %(known_at)s::timestamptz)
 GROUP BY c.event_id
 ORDER BY min(c.change_id), c.event_id
