-- The checkpoints of an export, the erased ones without what they said.
SELECT c.scope_id,
       json_build_object('task_run_id', c.task_run_id, 'version', c.version, 'checkpoint_id', c.checkpoint_id,
         'stream_id', c.stream_id, 'position', c.position, 'salt', encode(substr(c.body, 1, %(salt)s), 'hex'),
         'body', convert_from(substr(c.body, %(salt)s + 1), 'UTF8')::json, 'sha256', encode(c.sha256, 'hex'),
         'source_event_ids', c.source_event_ids, 'based_on', c.based_on, 'trust', c.trust, 'made_by', c.made_by,
         'prompt_hash', c.prompt_hash, 'event_id', c.event_id, 'recorded_at', c.recorded_at) AS line
  FROM engram.agent_checkpoints c
 WHERE c.tenant_id = %(tenant_id)s AND c.scope_id = ANY(%(scope_ids)s)
 ORDER BY c.task_run_id, c.version
