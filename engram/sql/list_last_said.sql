-- What users said last in a session, newest first, for a question that points back at it: messages that were to be heard.
SELECT e.tenant_id, e.stream_id, e.position, e.event_id, e.scope_id, e.role, e.event_type, e.trust, e.occurred_at, e.recorded_at,
       e.session_id, e.task_run_id, e.actor, e.idempotency_key, e.hash, p.body
  FROM engram.agent_events e
  JOIN engram.agent_event_payloads p ON p.tenant_id = e.tenant_id AND p.stream_id = e.stream_id AND p.position = e.position
 WHERE e.tenant_id = %(tenant_id)s AND e.scope_id = ANY(%(scope_ids)s) AND e.session_id = %(session_id)s
   AND e.event_type = 'user_message' AND e.derive <> '{}'
   AND (%(until)s::timestamptz IS NULL OR e.recorded_at <= %(until)s)
   AND NOT EXISTS (SELECT FROM engram.agent_task_runs h
                    WHERE h.tenant_id = e.tenant_id AND h.task_run_id = e.task_run_id AND h.forgotten_at IS NOT NULL)
 ORDER BY e.recorded_at DESC, e.stream_id DESC, e.position DESC
 LIMIT %(limit)s
