-- The memories of a scope that some events gave.
SELECT m.event_id::text, m.memory_id::text, m.lineage_id::text, m.deriver, m.ordinal, m.fact, m.status_reason
  FROM engram.agent_memory m
 WHERE m.tenant_id = %(tenant_id)s AND m.scope_id = %(scope_id)s AND m.event_id = ANY(%(event_ids)s::uuid[])
 ORDER BY m.event_id, m.deriver, m.ordinal
