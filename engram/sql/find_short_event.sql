-- The events of the readable scopes whose id ends in given digits, at least eight of them.
SELECT event_id::text
  FROM engram.agent_events e
 WHERE tenant_id = %(tenant_id)s AND scope_id = ANY(%(scope_ids)s) AND right(event_id::text, 8) = right(%(ending)s::text, 8)
   AND right(replace(event_id::text, '-', ''), length(%(ending)s::text)) = %(ending)s::text
 LIMIT 2
