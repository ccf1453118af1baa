-- Memories that are found by their words alone, since they were written before their tenant had a model.
SELECT count(*) AS memories
  FROM engram.memory_scopes s
  JOIN engram.agent_memory m ON m.tenant_id = s.tenant_id AND m.scope_id = s.scope_id
 WHERE s.tenant_id = %(tenant_id)s AND m.recorded_at <= %(before)s AND m.embed_state = 'none' AND m.status = 'active' AND m.fact <> ''
