-- Whether a task run of some scopes names a stream or an event that is not of its own scope.
SELECT EXISTS (
  SELECT FROM engram.agent_task_runs t
   WHERE t.tenant_id = %(tenant_id)s AND t.scope_id = ANY(%(scope_ids)s)
     AND (NOT EXISTS (SELECT FROM engram.event_streams h
                       WHERE h.tenant_id = t.tenant_id AND h.stream_id = t.stream_id AND h.scope_id = t.scope_id)
       OR EXISTS (SELECT FROM unnest(ARRAY[t.event_id, t.outcome_event_id, t.metadata_event_id]) n(event_id)
                   WHERE n.event_id IS NOT NULL
                     AND NOT EXISTS (SELECT FROM engram.agent_events e
                                      WHERE e.tenant_id = t.tenant_id AND e.event_id = n.event_id AND e.scope_id = t.scope_id))))
