-- The checkpoints of an export, the erased ones without what they said, and so those that a job made and that may tell of private memories
-- of others, or of what was refused and was to be one.
SELECT c.scope_id, c.private,
       json_build_object('task_run_id', c.task_run_id, 'version', c.version, 'checkpoint_id', c.checkpoint_id,
         'stream_id', c.stream_id, 'position', c.position, 'salt', encode(substr(c.told, 1, %(salt)s), 'hex'),
         'body', convert_from(substr(c.told, %(salt)s + 1), 'UTF8')::json, 'sha256', encode(c.sha256, 'hex'),
         'source_event_ids', c.source_event_ids, 'based_on', c.based_on, 'trust', c.trust, 'made_by', c.made_by,
         'prompt_hash', c.prompt_hash, 'event_id', c.event_id, 'recorded_at', c.recorded_at) AS line
  FROM (SELECT k.*, s.private, CASE WHEN NOT s.private THEN k.body END AS told
          FROM engram.agent_checkpoints k
         CROSS JOIN LATERAL (
               SELECT k.body IS NOT NULL AND k.made_by <> 'caller' AND k.scope_id <> ALL(%(own_ids)s)
                  AND engram.holds_private(k.tenant_id, k.scope_id, NULL, k.task_run_id::text) AS private) s
         WHERE k.tenant_id = %(tenant_id)s AND k.scope_id = ANY(%(scope_ids)s)) c
 ORDER BY c.task_run_id, c.version
