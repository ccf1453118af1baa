-- Runs of the life cycle, newest first; the steps of a cycle are told by it.
SELECT r.run_id::text, r.scope_id, r.parent_id::text, r.step, r.reason, r.actor, r.started_at, r.steps, r.failed_steps, r.finished,
       r.undone_by::text, r.tied::text[] AS tied
  FROM engram.lifecycle_runs r
 WHERE r.tenant_id = %(tenant_id)s AND r.scope_id = ANY(%(scope_ids)s) AND (r.parent_id IS NULL OR r.step = 'undo')
   AND (%(at)s::timestamptz IS NULL OR (r.started_at, r.run_id) < (%(at)s::timestamptz, %(before)s::uuid))
 ORDER BY r.started_at DESC, r.run_id DESC
 LIMIT %(limit)s
