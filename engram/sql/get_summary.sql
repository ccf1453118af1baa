-- How far the summary of a session has come, and how far the session has.
SELECT s.session_id, s.scope_id, s.summary, s.summary_position, s.summary_by, s.redactions, s.ended_at IS NOT NULL AS ended,
       h.position AS head, clock_timestamp() - coalesce(h.recorded_at, s.started_at) AS idle
  FROM engram.agent_sessions s
  JOIN engram.event_streams h ON h.tenant_id = s.tenant_id AND h.stream_id = s.stream_id
 WHERE s.tenant_id = engram.current_tenant() AND s.stream_id = %(stream_id)s::uuid
