-- The events of some runs, or one event, that did nothing but relate memories and whose relations nobody changed since.
SELECT DISTINCT r.scope_id, e.event_id::text
  FROM engram.lifecycle_runs r
 CROSS JOIN LATERAL unnest(r.tied) e(event_id)
 WHERE r.tenant_id = %(tenant_id)s AND r.scope_id = ANY(%(scope_ids)s)
   AND (r.run_id = ANY(%(run_ids)s::uuid[]) OR %(event_id)s::uuid = ANY(r.tied))
   AND (%(event_id)s::uuid IS NULL OR e.event_id = %(event_id)s::uuid)
   AND EXISTS (SELECT FROM engram.memory_relations m JOIN engram.relation_changes c USING (tenant_id, source_id, target_id, relation_type)
                WHERE c.tenant_id = %(tenant_id)s AND c.event_id = e.event_id AND m.event_id = e.event_id)
 ORDER BY r.scope_id, e.event_id::text
