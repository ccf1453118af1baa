-- The stream of a session of one scope, and how the session ended.
SELECT s.stream_id, s.outcome FROM engram.agent_sessions s
 WHERE s.tenant_id = engram.current_tenant() AND s.scope_id = %(scope_id)s AND s.session_id = %(session_id)s
