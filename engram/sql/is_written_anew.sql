-- Whether the changes that a cursor names, or those of scopes it has not come to yet, were written anew by a switch to a replay
-- since it was made: what is no more among the live ones stands in a shadow, or is gone with it.
SELECT EXISTS (
       SELECT FROM unnest(%(named)s::bigint[]) n(change_id)
        WHERE NOT EXISTS (SELECT FROM engram.memory_changes c WHERE c.tenant_id = %(tenant_id)s AND c.change_id = n.change_id))
    OR EXISTS (
       SELECT FROM engram.memory_changes s
        CROSS JOIN unnest(%(untouched)s::bigint[]) u(scope_id)
        WHERE s.tenant_id = %(tenant_id)s AND s.change_id = %(start)s
          AND NOT EXISTS (SELECT FROM engram.memory_changes c
                           WHERE c.tenant_id = %(tenant_id)s AND c.scope_id = u.scope_id AND c.change_id <= s.change_id)
          AND EXISTS (SELECT FROM engram.agent_events e
                       WHERE e.tenant_id = %(tenant_id)s AND e.scope_id = u.scope_id AND e.recorded_at >= s.recorded_at
                         AND e.event_type = 'projection_switched')) AS anew
