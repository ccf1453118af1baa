-- The memories that were put away for one that rests on an event, or on what a model read beside it.
SELECT m.memory_id::text, m.scope_id
  FROM engram.agent_memory w
  JOIN engram.agent_memory m ON m.tenant_id = w.tenant_id AND m.scope_id = w.scope_id AND m.superseded_by = w.memory_id
 WHERE w.tenant_id = %(tenant_id)s AND w.scope_id > 0
   AND (w.event_id = %(event_id)s::uuid OR w.event_id = ANY (%(beside)s::uuid[])
              AND (w.deriver = 'llm' OR EXISTS (SELECT FROM engram.memory_sources a
                    WHERE a.tenant_id = w.tenant_id AND a.memory_id = w.memory_id AND a.event_id = %(event_id)s::uuid AND a.ordinal >= 10000)))
   AND m.status = 'archived' AND m.status_reason = 'merged' AND m.event_id <> %(event_id)s::uuid
   AND m.memory_id <> ALL (%(freed)s::uuid[])
 ORDER BY m.scope_id, m.memory_id
 LIMIT %(limit)s
