-- Checkpoints as they were exported.
INSERT INTO engram.agent_checkpoints (tenant_id, task_run_id, version, checkpoint_id, scope_id, stream_id, position, body, sha256,
  source_event_ids, based_on, trust, made_by, prompt_hash, event_id, recorded_at)
SELECT %(tenant_id)s, r.task_run_id, r.version, r.checkpoint_id, r.scope, r.stream_id, r.position, decode(r.salt, 'hex') || convert_to(r.written, 'UTF8'),
       decode(r.sha256, 'hex'), r.source_event_ids, r.based_on, r.trust, r.made_by, r.prompt_hash, r.event_id, r.recorded_at
  FROM jsonb_to_recordset(%(rows)s::jsonb) r(task_run_id uuid, version integer, checkpoint_id uuid, scope bigint, stream_id uuid,
         position bigint, salt text, written text, sha256 text, source_event_ids uuid[], based_on integer, trust smallint, made_by text,
         prompt_hash text, event_id uuid, recorded_at timestamptz)
 ORDER BY r.task_run_id, r.version
