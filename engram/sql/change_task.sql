-- Change what is given of a task run; an event that gave an outcome or metadata is remembered as their source.
UPDATE engram.agent_task_runs t
   SET status = coalesce(%(status)s, t.status),
       ended_at = CASE WHEN %(status)s IN ('completed', 'failed', 'cancelled') THEN %(at)s ELSE t.ended_at END,
       outcome = coalesce(%(outcome)s, t.outcome),
       outcome_event_id = CASE WHEN %(outcome)s::text IS NULL THEN t.outcome_event_id ELSE %(event_id)s::uuid END,
       metadata = coalesce(%(metadata)s::jsonb, t.metadata),
       metadata_event_id = CASE WHEN %(metadata)s::jsonb IS NULL THEN t.metadata_event_id ELSE %(event_id)s::uuid END,
       forgotten_at = CASE %(forgotten)s::boolean WHEN true THEN %(at)s WHEN false THEN NULL ELSE t.forgotten_at END,
       updated_at = %(at)s
 WHERE t.tenant_id = %(tenant_id)s AND t.task_run_id = %(task_run_id)s
