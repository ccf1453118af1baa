-- An event of a session was redacted: a summary that covers it goes, and one that is being made will not be written. What it
-- noted of the session goes from the parts that continue it too.
WITH own AS (
UPDATE engram.agent_sessions
   SET redactions = redactions + 1,
       metadata = CASE WHEN %(event_type)s = 'session_started' THEN '{}' ELSE metadata END,
       summary = CASE WHEN summary_position < %(position)s THEN summary END,
       summary_position = CASE WHEN summary_position < %(position)s THEN summary_position ELSE 0 END,
       summary_style = CASE WHEN summary_position < %(position)s THEN summary_style END,
       summary_by = CASE WHEN summary_position < %(position)s THEN summary_by END,
       summary_prompt = CASE WHEN summary_position < %(position)s THEN summary_prompt END,
       summarised_at = CASE WHEN summary_position < %(position)s THEN summarised_at END
 WHERE tenant_id = engram.current_tenant() AND stream_id = %(stream_id)s::uuid
RETURNING tenant_id, scope_id, session_id, root, started_at, summary_position),
unnoted AS (
UPDATE engram.agent_sessions s SET metadata = '{}'
  FROM own
 WHERE %(event_type)s = 'session_started' AND s.tenant_id = own.tenant_id AND s.scope_id = own.scope_id AND s.root = own.root
   AND s.started_at > own.started_at)
SELECT session_id, scope_id, summary_position FROM own
