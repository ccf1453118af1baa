-- The events of some scopes, in order: of each scope the first, and the first of all these; documents list theirs by stream. The reader
-- fills in what they are narrowed to, and the order.
SELECT n.*, p.body
  FROM (
    SELECT o.*
      FROM unnest(%(scope_ids)s::bigint[]) s(scope_id)
     CROSS JOIN LATERAL (
       SELECT e.tenant_id, e.stream_id, e.position, e.event_id, e.role, e.event_type, e.trust, e.occurred_at, e.recorded_at,
              e.session_id, e.task_run_id, e.actor, e.hash
         FROM engram.agent_events e
        WHERE e.tenant_id = engram.current_tenant() AND e.scope_id = s.scope_id
          AND coalesce(e.stream_id <> ALL (ARRAY(SELECT d.stream_id FROM engram.event_streams d
                                                  WHERE d.tenant_id = engram.current_tenant() AND d.scope_id = ANY (%(scope_ids)s)
                                                    AND d.kind = 'document')), true)
          AND /*wanted*/
        ORDER BY /*order of e*/
        LIMIT %(limit)s) o
     ORDER BY /*order of o*/
     LIMIT %(limit)s) n
  LEFT JOIN engram.agent_event_payloads p
    ON p.tenant_id = n.tenant_id AND p.stream_id = n.stream_id AND p.position = n.position
 ORDER BY /*order of n*/
