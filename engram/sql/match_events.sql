-- Which events a list is narrowed to, over the alias `e`; a task run that was forgotten has none.
(%(after)s::bigint IS NULL OR e.position > %(after)s)
          AND (%(before)s::bigint IS NULL OR e.position < %(before)s)
          AND (%(types)s::text[] IS NULL OR e.event_type = ANY (%(types)s))
          AND (%(roles)s::text[] IS NULL OR e.role = ANY (%(roles)s))
          AND (%(trusts)s::smallint[] IS NULL OR e.trust = ANY (%(trusts)s))
          AND (%(since)s::timestamptz IS NULL OR e.occurred_at >= %(since)s)
          AND (%(until)s::timestamptz IS NULL OR e.occurred_at < %(until)s)
          AND NOT EXISTS (SELECT FROM engram.agent_task_runs h
                           WHERE h.tenant_id = e.tenant_id AND h.task_run_id = e.task_run_id AND h.forgotten_at IS NOT NULL)
