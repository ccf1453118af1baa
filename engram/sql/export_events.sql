-- The events of an export, stream by stream, with their payloads, and of each whether it speaks of private memories of others, relates them,
-- or ends a session that holds some.
SELECT e.scope_id, e.commitment, p.salt, p.body,
       EXISTS (SELECT FROM engram.memory_changes c
                 LEFT JOIN engram.agent_memory m ON m.tenant_id = c.tenant_id AND m.memory_id = c.memory_id
                WHERE c.tenant_id = e.tenant_id AND c.event_id = e.event_id AND (m.private OR c.decision->'private' = 'true')
                  AND coalesce(m.scope_id, c.scope_id) <> ALL(%(own_ids)s))
       OR EXISTS (SELECT FROM engram.relation_changes r
                    JOIN engram.agent_memory m ON m.tenant_id = r.tenant_id AND m.memory_id IN (r.source_id, r.target_id)
                   WHERE r.tenant_id = e.tenant_id AND r.event_id = e.event_id AND m.private AND m.scope_id <> ALL(%(own_ids)s))
       OR (e.event_type = 'session_ended' AND e.scope_id <> ALL(%(own_ids)s)
           AND engram.holds_private(e.tenant_id, e.scope_id, e.session_id, NULL)) AS private,
       json_build_object('stream_id', e.stream_id, 'position', e.position, 'event_id', e.event_id, 'role', e.role,
         'event_type', e.event_type, 'trust', e.trust, 'occurred_at', e.occurred_at, 'recorded_at', e.recorded_at,
         'session_id', e.session_id, 'task_run_id', e.task_run_id, 'actor', e.actor, 'idempotency_key', e.idempotency_key,
         'derive', e.derive) AS line
  FROM engram.agent_events e
  LEFT JOIN engram.agent_event_payloads p
    ON p.tenant_id = e.tenant_id AND p.stream_id = e.stream_id AND p.position = e.position
 WHERE e.tenant_id = %(tenant_id)s AND e.scope_id = ANY(%(scope_ids)s)
 ORDER BY e.stream_id, e.position
