-- Whether an imported run of the life cycle belongs to one of another scope, was taken back by one, or related memories by an event of one.
SELECT EXISTS (
  SELECT FROM engram.lifecycle_runs r
   WHERE r.tenant_id = %(tenant_id)s AND r.scope_id = ANY(%(scope_ids)s)
     AND (EXISTS (SELECT FROM engram.lifecycle_runs o
                   WHERE o.tenant_id = r.tenant_id AND o.run_id IN (r.parent_id, r.undone_by) AND o.scope_id <> ALL(%(scope_ids)s))
       OR EXISTS (SELECT FROM engram.agent_events e
                   WHERE e.tenant_id = r.tenant_id AND e.event_id = ANY(r.tied) AND e.scope_id <> ALL(%(scope_ids)s))))
