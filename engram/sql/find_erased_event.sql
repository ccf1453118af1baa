-- One of some events whose words have been erased. Event by event: of a list a planner that has not met the tenant yet would guess that
-- reading all it ever said is as cheap. It would of each, too, did it see which tenant that is.
SELECT w.event_id
  FROM unnest(%(event_ids)s::uuid[]) AS w (event_id)
 CROSS JOIN LATERAL (
       SELECT e.tenant_id, e.stream_id, e.position
         FROM engram.agent_events e
        WHERE e.tenant_id = (SELECT engram.current_tenant()) AND e.event_id = w.event_id OFFSET 0) e
 WHERE (SELECT p.position FROM engram.agent_event_payloads p
         WHERE p.tenant_id = e.tenant_id AND p.stream_id = e.stream_id AND p.position = e.position) IS NULL
 LIMIT 1
