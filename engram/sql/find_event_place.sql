-- Whether an event is in some scopes, and which memories that stand in them were made of it.
SELECT e.event_id::text,
       ARRAY(SELECT m.memory_id::text FROM engram.agent_memory m
              WHERE m.tenant_id = e.tenant_id AND m.scope_id = ANY(%(scope_ids)s) AND m.event_id = e.event_id
                AND (NOT m.private OR m.scope_id = %(own)s)
              ORDER BY m.memory_id) AS memory_ids
  FROM engram.agent_events e
 WHERE e.tenant_id = %(tenant_id)s AND e.scope_id = ANY(%(scope_ids)s) AND e.event_id = %(event_id)s::uuid
