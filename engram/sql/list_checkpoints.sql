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
   AND (%(everyone)s OR c.made_by = 'caller' OR c.scope_id = %(own)s OR NOT (EXISTS (
        SELECT FROM engram.agent_memory m
         WHERE m.tenant_id = c.tenant_id AND m.scope_id = c.scope_id AND m.task_run_id = c.task_run_id::text AND m.private)
        OR EXISTS (
        SELECT FROM engram.agent_events e
          JOIN engram.memory_changes d ON d.tenant_id = e.tenant_id AND d.event_id = e.event_id
         WHERE e.tenant_id = c.tenant_id AND e.stream_id = c.stream_id AND d.decision->'private' = 'true')))
 ORDER BY c.version DESC
 LIMIT %(limit)s
