-- Who changed which memory, how and why, the newest first, each change with the state before it and the one it left.
SELECT c.change_id, c.recorded_at, c.entry, c.memory_id::text, m.fact, c.reason, c.because, c.actor, c.event_id::text, c.run_id::text,
       r.step, r.undone_by IS NOT NULL AS undone, c.state AS after, b.state AS before, c.previous_id::text
  FROM engram.memory_changes c
  JOIN engram.agent_memory m ON m.tenant_id = c.tenant_id AND m.memory_id = c.memory_id
  LEFT JOIN engram.lifecycle_runs r ON r.tenant_id = c.tenant_id AND r.run_id = c.run_id
  LEFT JOIN LATERAL (
       SELECT p.state FROM engram.memory_changes p
        WHERE p.tenant_id = c.tenant_id AND p.memory_id = c.memory_id AND p.change_id < c.change_id AND p.state IS NOT NULL
        ORDER BY p.change_id DESC LIMIT 1) b ON true
 WHERE c.tenant_id = %(tenant_id)s AND c.scope_id = ANY(%(scope_ids)s) AND (NOT m.private OR m.scope_id = %(own)s)
   AND c.entry <> 'embedded'
   AND (%(memory_id)s::uuid IS NULL OR c.memory_id = %(memory_id)s::uuid)
   AND (%(actor)s::text IS NULL OR c.actor = %(actor)s::text)
   AND (%(since)s::timestamptz IS NULL OR c.recorded_at >= %(since)s::timestamptz)
   AND (%(until)s::timestamptz IS NULL OR c.recorded_at < %(until)s::timestamptz)
   AND (%(before)s::bigint IS NULL OR c.change_id < %(before)s::bigint)
 ORDER BY c.change_id DESC
 LIMIT %(limit)s
