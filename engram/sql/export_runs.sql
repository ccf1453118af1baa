-- The runs of the life cycle of an export; which change a cycle has come to is a number of this database, and stays here.
SELECT r.scope_id,
       json_build_object('run_id', r.run_id, 'parent_id', r.parent_id, 'step', r.step, 'reason', r.reason, 'actor', r.actor,
         'started_at', r.started_at, 'steps', r.steps, 'failed_steps', r.failed_steps, 'finished', r.finished,
         'undone_by', r.undone_by, 'cycle', r.cycle - '{upto,holder}'::text[]) AS line
  FROM engram.lifecycle_runs r
 WHERE r.tenant_id = %(tenant_id)s AND r.scope_id = ANY(%(scope_ids)s)
 ORDER BY r.started_at, r.run_id
