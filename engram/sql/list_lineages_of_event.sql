-- The lineages of the memories that were made of an event, or by a model that read other events beside it, and what guards them.
SELECT DISTINCT m.lineage_id::text, m.scope_id, m.conflict_key
  FROM engram.agent_memory m
 WHERE m.tenant_id = %(tenant_id)s
   AND (m.event_id = %(event_id)s::uuid OR m.event_id = ANY (%(beside)s::uuid[]) AND m.deriver = 'llm')
 ORDER BY 1
