-- The events of one stream, session or task run, in order. The reader fills in of which, what they are narrowed to, and the order.
SELECT e.tenant_id, e.stream_id, e.position, e.event_id, e.scope_id, e.role, e.event_type, e.trust, e.occurred_at, e.recorded_at,
       e.session_id, e.task_run_id, e.actor, e.idempotency_key, e.hash, p.body
  FROM engram.agent_events e
  LEFT JOIN engram.agent_event_payloads p
    ON p.tenant_id = e.tenant_id AND p.stream_id = e.stream_id AND p.position = e.position
 WHERE e.tenant_id = engram.current_tenant()
   AND /*of*/
   AND (%(scope_ids)s::bigint[] IS NULL OR e.scope_id = ANY (%(scope_ids)s))
   AND /*wanted*/
 ORDER BY /*order of e*/
 LIMIT %(limit)s
