-- The runs of the life cycle as they were exported, but for those that an earlier import brought into their scope.
INSERT INTO engram.lifecycle_runs (tenant_id, run_id, scope_id, parent_id, step, reason, actor, started_at, steps, failed_steps, finished,
  undone_by, cycle, tied)
SELECT %(tenant_id)s, r.run_id, r.scope, r.parent_id, r.step, r.reason, r.actor, r.started_at, r.steps, r.failed_steps, r.finished,
       r.undone_by, r.cycle, r.tied
  FROM jsonb_to_recordset(%(rows)s::jsonb) r(run_id uuid, scope bigint, parent_id uuid, step text, reason text, actor text,
         started_at timestamptz, steps text[], failed_steps text[], finished boolean, undone_by uuid, cycle jsonb, tied uuid[])
 WHERE NOT EXISTS (SELECT FROM engram.lifecycle_runs o
                    WHERE o.tenant_id = %(tenant_id)s AND o.run_id = r.run_id AND o.scope_id = r.scope AND o.step = r.step
                      AND o.started_at = r.started_at)
