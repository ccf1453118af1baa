-- The messages right before each of some events of its stream, two at most, that are not erased. Each is asked for by its place: a difference
-- within a condition may be looked at only after the wall was, so that whole streams would be read.
SELECT DISTINCT e.tenant_id, e.stream_id, e.position, e.event_id, e.scope_id, e.role, e.event_type, e.trust, e.occurred_at,
       e.recorded_at, e.session_id, e.task_run_id, e.actor, e.idempotency_key, e.hash, e.body
  FROM (SELECT n.tenant_id, n.stream_id, n.position - b.back AS position
          FROM engram.agent_events n
         CROSS JOIN (VALUES (1), (2)) b (back)
         WHERE n.tenant_id = engram.current_tenant() AND n.event_id = ANY (%(event_ids)s::uuid[])
        OFFSET 0) n
 CROSS JOIN LATERAL (
       SELECT e.tenant_id, e.stream_id, e.position, e.event_id, e.scope_id, e.role, e.event_type, e.trust, e.occurred_at, e.recorded_at,
              e.session_id, e.task_run_id, e.actor, e.idempotency_key, e.hash, p.body
         FROM engram.agent_events e
         JOIN engram.agent_event_payloads p
           ON p.tenant_id = e.tenant_id AND p.stream_id = e.stream_id AND p.position = e.position
        WHERE e.tenant_id = n.tenant_id AND e.stream_id = n.stream_id AND e.position = n.position
          AND e.event_type IN ('assistant_message', 'user_message')
       OFFSET 0) e
