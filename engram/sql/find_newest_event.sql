-- When the last event of some scopes was recorded.
SELECT max(n.recorded_at)
  FROM unnest(%(scope_ids)s::bigint[]) o (scope_id)
 CROSS JOIN LATERAL (
       SELECT e.recorded_at
         FROM engram.agent_events e
        WHERE e.tenant_id = %(tenant_id)s AND e.scope_id = o.scope_id
        ORDER BY e.recorded_at DESC
        LIMIT 1) n
