-- The steps of a replay that could not be taken, and why.
SELECT s.event_id::text, e.event_type, s.problem
  FROM engram.replay_steps s
  JOIN engram.agent_events e ON e.tenant_id = s.tenant_id AND e.event_id = s.event_id
 WHERE s.tenant_id = %(tenant_id)s AND s.shadow_id = %(shadow_id)s AND s.problem IS NOT NULL
 ORDER BY s.place
