-- The lineages of the memories that were made of an event.
SELECT DISTINCT m.lineage_id::text
  FROM engram.agent_memory m
 WHERE m.tenant_id = %(tenant_id)s AND m.event_id = %(event_id)s::uuid
 ORDER BY 1
