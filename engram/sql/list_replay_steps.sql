-- The next steps of a replay, each with its event.
SELECT s.place, s.part, s.at, e.tenant_id, e.stream_id, e.position, e.event_id, e.scope_id, e.role, e.event_type, e.trust, e.occurred_at,
       e.recorded_at, e.session_id, e.task_run_id, e.actor, e.idempotency_key, e.hash, p.body
  FROM engram.replay_steps s
  JOIN engram.agent_events e ON e.tenant_id = s.tenant_id AND e.event_id = s.event_id
  LEFT JOIN engram.agent_event_payloads p
    ON p.tenant_id = e.tenant_id AND p.stream_id = e.stream_id AND p.position = e.position
 WHERE s.tenant_id = %(tenant_id)s AND s.shadow_id = %(shadow_id)s AND s.place > %(place)s
 ORDER BY s.place
 LIMIT %(limit)s
