-- The events of some runs, or one event, that did nothing but relate memories.
SELECT DISTINCT r.scope_id, e.event_id::text
  FROM engram.lifecycle_runs r
 CROSS JOIN LATERAL unnest(r.tied) e(event_id)
 WHERE r.tenant_id = %(tenant_id)s AND r.scope_id = ANY(%(scope_ids)s)
   AND (r.run_id = ANY(%(run_ids)s::uuid[]) OR %(event_id)s::uuid = ANY(r.tied))
   AND (%(event_id)s::uuid IS NULL OR e.event_id = %(event_id)s::uuid)
 ORDER BY r.scope_id, e.event_id::text
