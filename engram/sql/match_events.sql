-- Which events a list is narrowed to, over the alias `e`; a task run that was forgotten by then has none. Of events that speak of private
-- memories, relate them, end a session that holds some, or speak of what was refused and was to be one, those of some scopes alone: asked
-- event by event, by keys, and in a coalesce(), so that the planner expects most to be left.
(%(after)s::bigint IS NULL OR e.position > %(after)s)
          AND (%(before)s::bigint IS NULL OR e.position < %(before)s)
          AND (%(types)s::text[] IS NULL OR e.event_type = ANY (%(types)s))
          AND (%(roles)s::text[] IS NULL OR e.role = ANY (%(roles)s))
          AND (%(trusts)s::smallint[] IS NULL OR e.trust = ANY (%(trusts)s))
          AND (%(since)s::timestamptz IS NULL OR e.occurred_at >= %(since)s)
          AND (%(until)s::timestamptz IS NULL OR e.occurred_at < %(until)s)
          AND (%(as_of)s::timestamptz IS NULL OR e.occurred_at <= %(as_of)s)
          AND (%(known_at)s::timestamptz IS NULL OR e.recorded_at <= %(known_at)s)
          AND NOT EXISTS (SELECT FROM engram.agent_task_runs h
                           WHERE h.tenant_id = e.tenant_id AND h.task_run_id = e.task_run_id
                             AND h.forgotten_at <= coalesce(%(known_at)s::timestamptz, 'infinity'))
          AND (%(own_ids)s::bigint[] IS NULL OR coalesce((
               SELECT false
                 FROM engram.memory_changes c
                 LEFT JOIN LATERAL (
                      SELECT m.private, m.scope_id FROM engram.agent_memory m
                       WHERE m.tenant_id = e.tenant_id AND m.memory_id = c.memory_id OFFSET 0) m ON true
                WHERE c.tenant_id = e.tenant_id AND c.event_id = e.event_id AND (m.private OR c.decision->'private' = 'true')
                  AND coalesce(m.scope_id, c.scope_id) <> ALL (%(own_ids)s)
                LIMIT 1), true))
          AND (%(own_ids)s::bigint[] IS NULL OR coalesce((
               SELECT false
                 FROM engram.relation_changes r
                CROSS JOIN LATERAL (
                      SELECT m.private, m.scope_id FROM engram.agent_memory m
                       WHERE m.tenant_id = e.tenant_id AND m.memory_id IN (r.source_id, r.target_id) OFFSET 0) m
                WHERE r.tenant_id = e.tenant_id AND r.event_id = e.event_id AND m.private AND m.scope_id <> ALL (%(own_ids)s)
                LIMIT 1), true))
          AND (%(own_ids)s::bigint[] IS NULL OR e.event_type <> 'session_ended' OR e.scope_id = ANY (%(own_ids)s)
               OR NOT engram.holds_private(e.tenant_id, e.scope_id, e.session_id, NULL))
