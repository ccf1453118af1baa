-- What is said of a session that is opened again is put beside what was said before; no row when it says nothing new.
UPDATE engram.agent_sessions SET metadata = metadata || %(metadata)s::jsonb
 WHERE tenant_id = engram.current_tenant() AND stream_id = %(stream_id)s::uuid AND NOT metadata @> %(metadata)s::jsonb
RETURNING session_id
