-- Give this transaction its tenant, role and limits; all of it ends with the transaction.
SELECT set_config('engram.tenant_id', %(tenant_id)s, true),
       set_config('search_path', 'engram, public', true),
       set_config('lock_timeout', %(lock_timeout)s, true),
       set_config('statement_timeout', %(statement_timeout)s, true),
       set_config('idle_in_transaction_session_timeout', %(idle_timeout)s, true),
       set_config('plan_cache_mode', 'force_custom_plan', true),
       set_config('transaction_read_only', %(read_only)s, true),
       set_config('role', %(role)s, true)
