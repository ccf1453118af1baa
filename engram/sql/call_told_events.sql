-- The newest events that were said and done, and what was made, of some scopes, as they are now. The server keeps the plan.
SELECT e.kind, e.stream_id, e.position, e.event_id, e.role, e.event_type, e.trust, e.occurred_at, e.recorded_at, e.session_id,
       e.task_run_id, e.actor, e.hash, e.body
  FROM engram.told_events(
         engram.current_tenant(), %(scope_ids)s::bigint[], %(types)s::text[], %(own)s, %(said)s, %(made)s, %(looked)s) e
