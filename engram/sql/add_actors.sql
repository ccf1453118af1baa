-- Remember who speaks in a scope.
INSERT INTO engram.memory_actors (tenant_id, scope_id, actor)
SELECT %(tenant_id)s, %(scope_id)s, a.actor FROM unnest(%(actors)s::text[]) a(actor) ORDER BY a.actor
    ON CONFLICT DO NOTHING
