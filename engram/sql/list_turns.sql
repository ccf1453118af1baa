-- What was said and done in a session, for its summary: raw events of people and agents only, none that was not to be heard,
-- none of which nothing is derived; the first or the last of them.
SELECT e.tenant_id, e.stream_id, e.position, e.event_id, e.scope_id, e.role, e.event_type, e.trust, e.occurred_at, e.recorded_at,
       e.session_id, e.task_run_id, e.actor, e.idempotency_key, e.hash, p.body
  FROM engram.agent_sessions s
  JOIN engram.agent_events e ON e.tenant_id = s.tenant_id AND e.stream_id = s.stream_id
  JOIN engram.agent_event_payloads p ON p.tenant_id = e.tenant_id AND p.stream_id = e.stream_id AND p.position = e.position
 WHERE s.tenant_id = engram.current_tenant() AND s.stream_id = %(stream_id)s::uuid
   AND e.position > %(after)s AND e.position <= %(until)s AND e.event_type = ANY(%(types)s) AND e.trust <= %(trust)s
   AND NOT e.position <@ s.unheard
   AND NOT (e.event_type IN ('user_message', 'assistant_message') AND e.derive = '{}')
 ORDER BY CASE WHEN %(last)s THEN -e.position ELSE e.position END
 LIMIT %(limit)s
