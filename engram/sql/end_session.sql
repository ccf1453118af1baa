-- A session has ended; with the caller's own summary, if there is one.
UPDATE engram.agent_sessions
   SET ended_at = %(ended_at)s, outcome = %(outcome)s,
       summary = coalesce(%(summary)s, summary),
       summary_position = CASE WHEN %(summary)s::text IS NULL THEN summary_position ELSE %(position)s END,
       summary_style = CASE WHEN %(summary)s::text IS NULL THEN summary_style END,
       summary_by = CASE WHEN %(summary)s::text IS NULL THEN summary_by ELSE 'caller' END,
       summary_prompt = CASE WHEN %(summary)s::text IS NULL THEN summary_prompt END,
       summarised_at = CASE WHEN %(summary)s::text IS NULL THEN summarised_at ELSE %(ended_at)s END
 WHERE tenant_id = engram.current_tenant() AND stream_id = %(stream_id)s::uuid
