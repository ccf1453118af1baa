-- The newest notes of sessions that have not been distilled.
SELECT m.memory_id::text, m.fact, m.trust, m.marks, m.event_id::text
  FROM engram.agent_memory m
 WHERE m.tenant_id = %(tenant_id)s AND m.scope_id = %(scope_id)s AND m.status = 'active' AND m.consolidated_into IS NULL
   AND NOT m.moot AND NOT m.private AND m.critical_slot IS NULL AND NOT m.marks ? 'distilled'
   AND (m.expires_at IS NULL OR m.expires_at > clock_timestamp())
   AND (m.category IN ('session', 'session-note') OR m.tags && ARRAY['session', 'session-note'])
 ORDER BY m.recorded_at DESC, m.memory_id
 LIMIT %(limit)s
