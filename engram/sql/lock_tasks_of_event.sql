-- Lock the task runs that keep something of an event: their own words, or a checkpoint that rests on it.
SELECT t.task_run_id::text FROM engram.agent_task_runs t
 WHERE t.tenant_id = %(tenant_id)s AND t.scope_id = %(scope_id)s
   AND (t.stream_id = %(stream_id)s OR %(event_id)s::uuid IN (t.event_id, t.outcome_event_id, t.metadata_event_id)
     OR EXISTS (SELECT FROM engram.agent_checkpoints c
                 WHERE c.tenant_id = t.tenant_id AND c.task_run_id = t.task_run_id AND %(event_id)s = ANY (c.source_event_ids)))
 ORDER BY t.task_run_id
   FOR NO KEY UPDATE
