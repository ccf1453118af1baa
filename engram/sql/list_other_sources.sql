-- What else a memory rests on than an event that is being redacted: statements of other events, each with who derived it.
SELECT q.memory_id::text, q.event_id::text, q.ordinal, q.deriver, m.scope_id, e.stream_id::text, e.position
  FROM engram.memory_sources q
  JOIN engram.agent_memory m ON m.tenant_id = q.tenant_id AND m.memory_id = q.memory_id
  JOIN engram.agent_events e ON e.tenant_id = q.tenant_id AND e.event_id = q.event_id
 WHERE q.tenant_id = %(tenant_id)s AND q.memory_id = ANY (%(memory_ids)s::uuid[]) AND q.event_id <> %(event_id)s::uuid
   AND q.ordinal < 10000 AND (q.deriver = 'llm' OR q.event_id <> m.event_id)  -- what was said in answer to it, it says no more
   AND m.scope_id > 0
 ORDER BY q.recorded_at, q.event_id, q.ordinal
