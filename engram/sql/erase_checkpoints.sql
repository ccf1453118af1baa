-- Empty the checkpoints that rest on an event, and those that carry on the words of one that did; each version keeps its place.
-- A checkpoint that names no sources rests on everything of its stream up to its position.
WITH RECURSIVE gone AS (
  SELECT c.task_run_id, c.version FROM engram.agent_checkpoints c
   WHERE c.tenant_id = %(tenant_id)s AND c.scope_id = %(scope_id)s
     AND (c.event_id = %(event_id)s OR %(event_id)s = ANY (c.source_event_ids)
       OR (c.source_event_ids = '{}' AND c.stream_id = %(stream_id)s AND c.position >= %(position)s))
  UNION
  SELECT c.task_run_id, c.version FROM engram.agent_checkpoints c
    JOIN gone ON c.task_run_id = gone.task_run_id AND c.based_on = gone.version
   WHERE c.tenant_id = %(tenant_id)s)
UPDATE engram.agent_checkpoints c SET body = NULL
  FROM gone
 WHERE c.tenant_id = %(tenant_id)s AND c.task_run_id = gone.task_run_id AND c.version = gone.version AND c.body IS NOT NULL
RETURNING c.task_run_id::text, c.version, c.checkpoint_id::text, c.source_event_ids::text[]
