-- Supersede memories of a shadow as an erased act superseded the live ones by name: they keep their place and are never head again.
UPDATE engram.agent_memory s
   SET status = 'superseded', status_reason = 'explicit', put_away = true, superseded_at = (c.state ->> 'superseded_at')::timestamptz,
       valid_to = (c.state ->> 'valid_to')::timestamptz,
       superseded_by = (SELECT x.memory_id FROM engram.agent_memory x
                         WHERE x.tenant_id = c.tenant_id AND x.memory_id = engram.redigit((c.state ->> 'superseded_by')::uuid, '7', %(digit)s))
  FROM engram.memory_changes c
 WHERE c.tenant_id = %(tenant_id)s AND c.scope_id = %(scope_id)s AND c.event_id = %(event_id)s::uuid AND c.entry = 'superseded'
   AND (c.state ->> 'put_away')::boolean
   AND s.tenant_id = c.tenant_id AND s.scope_id = %(shadow_id)s AND s.memory_id = engram.redigit(c.memory_id, '7', %(digit)s)
   AND s.status_reason IS DISTINCT FROM 'erased'
RETURNING s.memory_id::text, s.lineage_id::text, c.entry
