-- The checkpoints of an export; one that a job made and that may tell of private memories of others, or of what was refused and was to be one,
-- is left out.
SELECT c.scope_id, c.task_run_id::text, c.version, c.position, c.body, c.sha256,
       c.body IS NOT NULL AND c.made_by <> 'caller' AND c.scope_id <> ALL(%(own_ids)s)
         AND engram.holds_private(c.tenant_id, c.scope_id, NULL, c.task_run_id::text) AS private,
       json_build_object('task_run_id', c.task_run_id, 'version', c.version, 'checkpoint_id', c.checkpoint_id,
         'stream_id', c.stream_id, 'position', c.position, 'sha256', encode(c.sha256, 'hex'),
         'source_event_ids', c.source_event_ids, 'based_on', c.based_on, 'trust', c.trust, 'made_by', c.made_by,
         'prompt_hash', c.prompt_hash, 'event_id', c.event_id, 'recorded_at', c.recorded_at) AS line
  FROM engram.agent_checkpoints c
 WHERE c.tenant_id = %(tenant_id)s AND c.scope_id = ANY(%(scope_ids)s)
 ORDER BY c.task_run_id, c.version
