-- Who holds some conflict keys in the readable scopes now.
SELECT m.conflict_key, m.scope_id, m.trust, m.memory_id::text
  FROM engram.agent_memory m
 WHERE m.tenant_id = %(tenant_id)s AND m.scope_id = ANY(%(scope_ids)s) AND m.conflict_key = ANY(%(conflict_keys)s)
   AND m.status = 'active' AND NOT m.moot AND (NOT m.private OR m.scope_id = %(own)s)
   AND (m.expires_at IS NULL OR m.expires_at > clock_timestamp()) AND (m.ended_at IS NULL OR m.ended_at > clock_timestamp())
