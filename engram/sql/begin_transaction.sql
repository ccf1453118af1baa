-- Give this transaction its tenant, role and limits; all of it ends with the transaction. Every statement is written for an
-- index: on a table that has just been filled the planner has no statistics yet and would scan it whole for a few keys.
SELECT set_config('engram.tenant_id', %(tenant_id)s, true),
       set_config('TimeZone', 'UTC', true),
       set_config('search_path', 'engram, public', true),
       set_config('lock_timeout', %(lock_timeout)s, true),
       set_config('statement_timeout', %(statement_timeout)s, true),
       set_config('idle_in_transaction_session_timeout', %(idle_timeout)s, true),
       set_config('enable_seqscan', 'off', true),
       set_config('jit', 'off', true),
       -- Read-only by the server's own wish stays read-only: whoever set it so knew why.
       set_config('transaction_read_only',
                  CASE WHEN %(read_only)s = 'on' THEN 'on' ELSE current_setting('transaction_read_only') END, true),
       set_config('role', %(role)s, true)
