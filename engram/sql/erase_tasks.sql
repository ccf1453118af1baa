-- Empty what an event said of a task run and still stands there: its goal, its outcome, its metadata.
UPDATE engram.agent_task_runs t
   SET goal = CASE WHEN t.event_id = %(event_id)s THEN '' ELSE t.goal END,
       outcome = CASE WHEN t.outcome_event_id = %(event_id)s THEN NULL ELSE t.outcome END,
       metadata = CASE WHEN t.metadata_event_id = %(event_id)s THEN '{}' ELSE t.metadata END
 WHERE t.tenant_id = %(tenant_id)s AND t.scope_id = %(scope_id)s
   AND (t.event_id = %(event_id)s AND t.goal <> '' OR t.outcome_event_id = %(event_id)s AND t.outcome IS NOT NULL
        OR t.metadata_event_id = %(event_id)s AND t.metadata <> '{}')
