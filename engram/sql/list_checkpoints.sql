-- The checkpoints of a task run, newest first; of another scope's that a job made none that may tell of private memories of the run, or
-- of what was refused there and was to be one.
SELECT c.task_run_id::text, c.version, c.checkpoint_id::text, c.position,
       CASE WHEN %(read)s THEN c.body END AS body, c.body IS NULL AS erased, c.sha256, c.source_event_ids::text[],
       c.trust, c.made_by, c.event_id::text, c.recorded_at
  FROM engram.agent_checkpoints c
 WHERE c.tenant_id = %(tenant_id)s AND c.task_run_id = %(task_run_id)s
   AND (%(whole)s IS FALSE OR c.body IS NOT NULL)
   AND (%(event_id)s::uuid IS NULL OR c.event_id = %(event_id)s)
   AND (%(recorded_by)s::timestamptz IS NULL OR c.recorded_at <= %(recorded_by)s)
   AND (%(everyone)s OR c.made_by = 'caller' OR c.scope_id = %(own)s
        OR NOT engram.holds_private(c.tenant_id, c.scope_id, NULL, c.task_run_id::text))
 ORDER BY c.version DESC
 LIMIT %(limit)s
