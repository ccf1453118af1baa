-- A session that had ended goes on.
UPDATE engram.agent_sessions SET ended_at = NULL, outcome = NULL
 WHERE tenant_id = engram.current_tenant() AND stream_id = %(stream_id)s::uuid
