-- Whether a session of some scopes names a stream that is not of its own scope.
SELECT EXISTS (
  SELECT FROM engram.agent_sessions s
   WHERE s.tenant_id = %(tenant_id)s AND s.scope_id = ANY(%(scope_ids)s)
     AND NOT EXISTS (SELECT FROM engram.event_streams h
                      WHERE h.tenant_id = s.tenant_id AND h.stream_id = s.stream_id AND h.scope_id = s.scope_id))
