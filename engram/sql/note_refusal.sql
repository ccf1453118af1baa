-- Write down a candidate that was not stored.
INSERT INTO engram.memory_changes (tenant_id, scope_id, recorded_at, entry, decision, reason, actor, event_id)
VALUES (%(tenant_id)s, %(scope_id)s, coalesce(%(at)s::timestamptz, clock_timestamp()), %(entry)s, %(decision)s::jsonb, %(reason)s, %(actor)s, %(event_id)s::uuid)
