-- Let what some events gave in a shadow be as old as what it stands for among the live memories, so that both are listed alike.
UPDATE engram.agent_memory s
   SET recorded_at = m.recorded_at
  FROM engram.agent_memory m
 WHERE m.tenant_id = %(tenant_id)s AND m.scope_id = %(scope_id)s AND m.event_id = ANY(%(event_ids)s::uuid[])
   AND s.tenant_id = m.tenant_id AND s.scope_id = %(shadow_id)s AND s.memory_id = engram.redigit(m.memory_id, '7', %(digit)s)
   AND s.recorded_at <> m.recorded_at
