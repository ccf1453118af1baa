-- Task runs of some scopes, or one of them by its id, newest first; a run that was forgotten, by a moment if one is given, only where
-- it is asked for.
SELECT t.task_run_id::text, t.scope_id, t.stream_id::text, t.goal, t.status, t.outcome, t.parent_task_id::text, t.session_id,
       t.metadata, t.trust, t.started_at, t.updated_at, t.ended_at, t.forgotten_at, s.position,
       t.event_id::text, t.outcome_event_id::text
  FROM engram.agent_task_runs t
  JOIN engram.event_streams s ON s.tenant_id = t.tenant_id AND s.stream_id = t.stream_id
 WHERE t.tenant_id = %(tenant_id)s AND t.scope_id = ANY (%(scope_ids)s)
   AND (%(task_run_id)s::uuid IS NULL OR t.task_run_id = %(task_run_id)s)
   AND (%(forgotten)s OR t.forgotten_at IS NULL OR t.forgotten_at > %(known_at)s::timestamptz)
   AND (%(statuses)s::text[] IS NULL OR t.status = ANY (%(statuses)s))
   AND (%(started_by)s::timestamptz IS NULL OR t.started_at <= %(started_by)s)
   AND (%(after_at)s::timestamptz IS NULL OR (t.started_at, t.task_run_id) < (%(after_at)s, %(after_id)s::uuid))
 ORDER BY t.started_at DESC, t.task_run_id DESC
 LIMIT %(limit)s
