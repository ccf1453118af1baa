-- Keep every writer of the tenant out for a moment; who writes just now is waited for, but not for long.
SELECT set_config('lock_timeout', '1s', true),
       pg_advisory_xact_lock(hashtextextended(%(tenant_id)s || '/models', 7))
