-- The task runs of an export.
SELECT t.scope_id,
       json_build_object('task_run_id', t.task_run_id, 'stream_id', t.stream_id, 'goal', t.goal, 'status', t.status,
         'outcome', t.outcome, 'parent_task_id', t.parent_task_id, 'session_id', t.session_id, 'metadata', t.metadata,
         'trust', t.trust, 'started_at', t.started_at, 'updated_at', t.updated_at, 'ended_at', t.ended_at,
         'forgotten_at', t.forgotten_at, 'event_id', t.event_id, 'outcome_event_id', t.outcome_event_id,
         'metadata_event_id', t.metadata_event_id) AS line
  FROM engram.agent_task_runs t
 WHERE t.tenant_id = %(tenant_id)s AND t.scope_id = ANY(%(scope_ids)s)
 ORDER BY t.task_run_id
