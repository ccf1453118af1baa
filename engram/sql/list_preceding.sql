-- The messages right before each of some events of its stream, two at most, that are not erased.
SELECT DISTINCT e.tenant_id, e.stream_id, e.position, e.event_id, e.scope_id, e.role, e.event_type, e.trust, e.occurred_at,
       e.recorded_at, e.session_id, e.task_run_id, e.actor, e.idempotency_key, e.hash, p.body
  FROM engram.agent_events n
  JOIN engram.agent_events e
    ON e.tenant_id = n.tenant_id AND e.stream_id = n.stream_id AND e.position BETWEEN n.position - 2 AND n.position - 1
   AND e.event_type IN ('assistant_message', 'user_message')
  JOIN engram.agent_event_payloads p
    ON p.tenant_id = e.tenant_id AND p.stream_id = e.stream_id AND p.position = e.position
 WHERE n.tenant_id = engram.current_tenant() AND n.event_id = ANY (%(event_ids)s::uuid[])
