-- The newest events of some kind of some scopes, newest first, with their kind: of each scope so many are looked at, or all where the kind
-- has an index. The reader fills in the kind, of what the events are to be, which are looked at, and which of those are of the kind. Where the list begins tells what was known.
SELECT '/*kind*/' AS kind, n.*, p.body
  FROM (
    SELECT o.*
      FROM unnest(%(scope_ids)s::bigint[]) s(scope_id)
     CROSS JOIN LATERAL (
       SELECT e.tenant_id, e.stream_id, e.position, e.event_id, e.role, e.event_type, e.trust, e.occurred_at, e.recorded_at,
              e.session_id, e.task_run_id, e.actor, e.hash
         FROM engram.agent_events e
        WHERE e.tenant_id = engram.current_tenant() AND e.scope_id = s.scope_id AND /*of*/ AND /*among*/
          AND (%(start_at)s::timestamptz IS NULL
            OR (e.recorded_at, e.stream_id, e.position) < (%(start_at)s, %(start_stream)s::uuid, %(start_position)s::bigint))
          AND (%(until)s::timestamptz IS NULL OR e.occurred_at < %(until)s)
          AND NOT EXISTS (SELECT FROM engram.agent_task_runs h
                           WHERE h.tenant_id = e.tenant_id AND h.task_run_id = e.task_run_id
                             AND h.forgotten_at <= coalesce(%(start_at)s::timestamptz, 'infinity'))
        ORDER BY e.recorded_at DESC, e.stream_id DESC, e.position DESC
        LIMIT /*looked*/) o
     WHERE /*which*/
     ORDER BY o.recorded_at DESC, o.stream_id DESC, o.position DESC
     LIMIT %(/*kind*/)s) n
  LEFT JOIN engram.agent_event_payloads p
    ON p.tenant_id = n.tenant_id AND p.stream_id = n.stream_id AND p.position = n.position
