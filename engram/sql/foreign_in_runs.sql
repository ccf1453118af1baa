-- Whether an imported run of the life cycle belongs to one of another scope, or was taken back by one.
SELECT EXISTS (
  SELECT FROM engram.lifecycle_runs r
    JOIN engram.lifecycle_runs o ON o.tenant_id = r.tenant_id AND o.run_id IN (r.parent_id, r.undone_by)
   WHERE r.tenant_id = %(tenant_id)s AND r.scope_id = ANY(%(scope_ids)s) AND o.scope_id <> ALL(%(scope_ids)s))
