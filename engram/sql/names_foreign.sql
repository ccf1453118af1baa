-- Whether some memories are not all of some scopes, or some events are of another scope.
SELECT EXISTS (SELECT FROM unnest(%(memory_ids)s::uuid[]) n(memory_id)
                WHERE NOT EXISTS (SELECT FROM engram.agent_memory m
                                   WHERE m.tenant_id = %(tenant_id)s AND m.memory_id = n.memory_id AND m.scope_id = ANY(%(scope_ids)s)))
    OR EXISTS (SELECT FROM engram.agent_events e
                WHERE e.tenant_id = %(tenant_id)s AND e.event_id = ANY(%(event_ids)s::uuid[]) AND e.scope_id <> ALL(%(scope_ids)s))
