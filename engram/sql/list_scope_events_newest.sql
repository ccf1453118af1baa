-- The events of some scopes, newest first: of each scope the newest, and the newest of all these; documents list theirs by stream.
SELECT n.*, p.body
  FROM (
    SELECT o.*
      FROM unnest(%(scope_ids)s::bigint[]) s(scope_id)
     CROSS JOIN LATERAL (
       SELECT e.tenant_id, e.stream_id, e.position, e.event_id, e.role, e.event_type, e.trust, e.occurred_at, e.recorded_at,
              e.session_id, e.task_run_id, e.actor, e.hash
         FROM engram.agent_events e
        WHERE e.tenant_id = engram.current_tenant() AND e.scope_id = s.scope_id
          AND (%(start_at)s::timestamptz IS NULL
            OR (e.recorded_at, e.stream_id, e.position) < (%(start_at)s, %(start_stream)s::uuid, %(start_position)s::bigint))
          AND coalesce(e.stream_id <> ALL (ARRAY(SELECT d.stream_id FROM engram.event_streams d
                                                  WHERE d.tenant_id = engram.current_tenant() AND d.scope_id = ANY (%(scope_ids)s)
                                                    AND d.kind = 'document')), true)
          AND (%(after)s::bigint IS NULL OR e.position > %(after)s)
          AND (%(before)s::bigint IS NULL OR e.position < %(before)s)
          AND (%(types)s::text[] IS NULL OR e.event_type = ANY (%(types)s))
          AND (%(roles)s::text[] IS NULL OR e.role = ANY (%(roles)s))
          AND (%(trusts)s::smallint[] IS NULL OR e.trust = ANY (%(trusts)s))
          AND (%(since)s::timestamptz IS NULL OR e.occurred_at >= %(since)s)
          AND (%(until)s::timestamptz IS NULL OR e.occurred_at < %(until)s)
          AND NOT EXISTS (SELECT FROM engram.agent_task_runs h
                           WHERE h.tenant_id = e.tenant_id AND h.task_run_id = e.task_run_id AND h.forgotten_at IS NOT NULL)
        ORDER BY e.recorded_at DESC, e.stream_id DESC, e.position DESC
        LIMIT %(limit)s) o
     ORDER BY o.recorded_at DESC, o.stream_id DESC, o.position DESC
     LIMIT %(limit)s) n
  LEFT JOIN engram.agent_event_payloads p
    ON p.tenant_id = n.tenant_id AND p.stream_id = n.stream_id AND p.position = n.position
 ORDER BY n.recorded_at DESC, n.stream_id DESC, n.position DESC
