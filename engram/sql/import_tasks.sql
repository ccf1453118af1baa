-- Task runs as they were exported, still without their parents, which may come later.
INSERT INTO engram.agent_task_runs (tenant_id, task_run_id, scope_id, stream_id, goal, status, outcome, session_id, metadata, trust,
  started_at, updated_at, ended_at, forgotten_at, event_id, outcome_event_id, metadata_event_id)
SELECT %(tenant_id)s, r.task_run_id, r.scope, r.stream_id, r.goal, r.status, r.outcome, r.session_id, r.metadata, r.trust, r.started_at,
       r.updated_at, r.ended_at, r.forgotten_at, r.event_id, r.outcome_event_id, r.metadata_event_id
  FROM jsonb_to_recordset(%(rows)s::jsonb) r(task_run_id uuid, scope bigint, stream_id uuid, goal text, status text, outcome text,
         session_id text, metadata jsonb, trust smallint, started_at timestamptz, updated_at timestamptz, ended_at timestamptz,
         forgotten_at timestamptz, event_id uuid, outcome_event_id uuid, metadata_event_id uuid)
