-- Sessions of some scopes, the youngest first, as they stand now or stood at a moment. A summary is left out where it may tell
-- of private memories that the reader may not see, or of what was refused and was to be one, or is younger than the moment.
SELECT s.scope_id, s.session_id, s.stream_id, s.opened_by, s.continues, s.started_at, s.metadata,
       CASE WHEN %(at)s::timestamptz IS NULL THEN h.position ELSE coalesce(reached.position, 0) END AS position,
       CASE WHEN %(at)s::timestamptz IS NULL THEN s.ended_at WHEN past.event_type = 'session_ended' THEN past.recorded_at END AS ended_at,
       CASE WHEN %(at)s::timestamptz IS NULL OR s.ended_at <= %(at)s THEN s.outcome
            WHEN past.event_type = 'session_ended' THEN past.outcome END AS outcome,
       CASE WHEN shown.summary THEN s.summary END AS summary,
       CASE WHEN shown.summary THEN s.summary_position ELSE 0 END AS summary_position,
       CASE WHEN shown.summary THEN s.summary_style END AS summary_style,
       CASE WHEN shown.summary THEN s.summary_by END AS summary_by
  FROM engram.agent_sessions s
  JOIN engram.event_streams h ON h.tenant_id = s.tenant_id AND h.stream_id = s.stream_id
  LEFT JOIN LATERAL (
       SELECT e.recorded_at, e.event_type, convert_from(p.body, 'UTF8')::jsonb #>> '{payload,outcome}' AS outcome
         FROM engram.agent_events e
         LEFT JOIN engram.agent_event_payloads p
           ON e.event_type = 'session_ended' AND (p.tenant_id, p.stream_id, p.position) = (e.tenant_id, e.stream_id, e.position)
        WHERE e.tenant_id = s.tenant_id AND e.stream_id = s.stream_id AND e.recorded_at <= %(at)s AND e.event_type <> 'redaction'
        ORDER BY e.position DESC LIMIT 1) past ON %(at)s::timestamptz IS NOT NULL
  LEFT JOIN LATERAL (
       SELECT e.position
         FROM engram.agent_events e
        WHERE e.tenant_id = s.tenant_id AND e.stream_id = s.stream_id AND e.recorded_at <= %(at)s
        ORDER BY e.position DESC LIMIT 1) reached ON %(at)s::timestamptz IS NOT NULL
 CROSS JOIN LATERAL (
       SELECT s.summary IS NOT NULL AND (%(at)s::timestamptz IS NULL OR s.summarised_at <= %(at)s)
          AND (s.scope_id IS NOT DISTINCT FROM %(own)s
               OR NOT engram.holds_private(s.tenant_id, s.scope_id, s.session_id, NULL)) AS summary) shown
 WHERE s.tenant_id = engram.current_tenant() AND s.scope_id = ANY(%(scope_ids)s)
   AND (%(session_id)s::text IS NULL OR s.session_id = %(session_id)s)
   AND (%(at)s::timestamptz IS NULL OR s.started_at <= %(at)s)
   AND (NOT %(open_only)s OR CASE WHEN %(at)s::timestamptz IS NULL THEN s.ended_at IS NULL
                                  ELSE past.event_type IS DISTINCT FROM 'session_ended' END)
   AND (%(after_at)s::timestamptz IS NULL OR (s.started_at, s.session_id, s.scope_id) < (%(after_at)s, %(after_id)s, %(after_scope)s))
 ORDER BY s.started_at DESC, s.session_id DESC, s.scope_id DESC
 LIMIT %(limit)s
