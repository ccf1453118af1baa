-- The latest checkpoint of each of some task runs that still says something, but those a job made that may tell of private memories of
-- a run of another scope, or of what was refused there and was to be one.
SELECT c.task_run_id::text, c.version, c.checkpoint_id::text, c.position, c.body, false AS erased, c.sha256, c.source_event_ids::text[],
       c.trust, c.made_by, c.event_id::text, c.recorded_at
  FROM unnest(%(task_run_ids)s::uuid[]) t(task_run_id)
 CROSS JOIN LATERAL (
       SELECT l.task_run_id, l.version, l.checkpoint_id, l.position, l.body, l.sha256, l.source_event_ids, l.trust, l.made_by, l.event_id,
              l.recorded_at
         FROM engram.agent_checkpoints l
        WHERE l.tenant_id = %(tenant_id)s AND l.task_run_id = t.task_run_id AND l.scope_id = ANY (%(scope_ids)s) AND l.body IS NOT NULL
          AND (%(recorded_by)s::timestamptz IS NULL OR l.recorded_at <= %(recorded_by)s)
          AND (l.made_by = 'caller' OR l.scope_id = %(own)s
               OR NOT engram.holds_private(l.tenant_id, l.scope_id, NULL, l.task_run_id::text))
        ORDER BY l.version DESC
        LIMIT 1) c
