-- One of some events whose words have been erased.
SELECT e.event_id
  FROM engram.agent_events e
 WHERE e.tenant_id = engram.current_tenant() AND e.event_id = ANY (%(event_ids)s::uuid[])
   -- Not as an anti-join: a planner that has not met the tenant yet would read all it ever said.
   AND (SELECT p.position FROM engram.agent_event_payloads p
         WHERE p.tenant_id = e.tenant_id AND p.stream_id = e.stream_id AND p.position = e.position) IS NULL
 LIMIT 1
