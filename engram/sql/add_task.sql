-- A new task run.
INSERT INTO engram.agent_task_runs (tenant_id, task_run_id, scope_id, stream_id, goal, parent_task_id, session_id, metadata,
    trust, started_at, updated_at, event_id, metadata_event_id)
VALUES (%(tenant_id)s, %(task_run_id)s, %(scope_id)s, %(stream_id)s, %(goal)s, %(parent_task_id)s, %(session_id)s,
    %(metadata)s::jsonb, %(trust)s, %(at)s, %(at)s, %(event_id)s, %(event_id)s)
