-- Forget what models answered for the summary of a session, from the events after a position on.
UPDATE engram.llm_calls c
   SET answer = NULL, call_key = NULL
  FROM engram.llm_call_events n
  JOIN engram.agent_events e ON e.tenant_id = n.tenant_id AND e.event_id = n.event_id
 WHERE n.tenant_id = engram.current_tenant() AND e.stream_id = %(stream_id)s::uuid AND e.position >= %(position)s
   AND c.tenant_id = n.tenant_id AND c.call_id = n.call_id AND c.component = 'summary'
