-- A run of the life cycle in one of the scopes, with what it goes by: for a cycle that, else a hash of what was asked of it.
SELECT r.run_id::text, r.scope_id, r.parent_id::text, r.step, r.reason, r.actor, r.started_at, r.steps, r.failed_steps, r.finished,
       r.undone_by::text, r.cycle, r.cycle ->> 'asked' AS asked, r.tied::text[] AS tied
  FROM engram.lifecycle_runs r
 WHERE r.tenant_id = %(tenant_id)s AND r.run_id = %(run_id)s::uuid AND r.scope_id = ANY(%(scope_ids)s)
