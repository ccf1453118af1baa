-- The lineages of the memories that were made of an event, and what guards them.
SELECT DISTINCT m.lineage_id::text, m.scope_id, m.conflict_key
  FROM engram.agent_memory m
 WHERE m.tenant_id = %(tenant_id)s AND m.event_id = %(event_id)s::uuid
 ORDER BY 1
