-- The event a scope recorded under an idempotency key.
SELECT e.tenant_id, e.stream_id, e.position, e.event_id, e.scope_id, e.role, e.event_type, e.trust, e.occurred_at, e.recorded_at,
       e.session_id, e.task_run_id, e.actor, e.idempotency_key, e.hash, p.body
  FROM engram.agent_events e
  LEFT JOIN engram.agent_event_payloads p
    ON p.tenant_id = e.tenant_id AND p.stream_id = e.stream_id AND p.position = e.position
 WHERE e.tenant_id = engram.current_tenant()
   AND e.scope_id = %(scope_id)s
   AND e.idempotency_key = %(idempotency_key)s
