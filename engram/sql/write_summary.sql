-- The next summary of a session, unless another came first or something it covers was redacted meanwhile.
UPDATE engram.agent_sessions
   SET summary_position = %(position)s,
       summary = coalesce(%(summary)s, summary),
       summary_style = CASE WHEN %(summary)s::text IS NULL THEN summary_style ELSE %(style)s END,
       summary_by = CASE WHEN %(summary)s::text IS NULL THEN summary_by ELSE %(by)s END,
       summary_prompt = CASE WHEN %(summary)s::text IS NULL THEN summary_prompt ELSE %(prompt)s END,
       summarised_at = CASE WHEN %(summary)s::text IS NULL THEN summarised_at ELSE clock_timestamp() END
 WHERE tenant_id = engram.current_tenant() AND stream_id = %(stream_id)s::uuid
   AND summary_position = %(old)s AND redactions = %(redactions)s
