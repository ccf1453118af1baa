-- Let no statement of this transaction run longer than some milliseconds, or than it may anyway.
SELECT set_config('statement_timeout', least(%(milliseconds)s, coalesce(nullif(
         (1000 * extract(epoch FROM current_setting('statement_timeout')::interval))::bigint, 0), %(milliseconds)s))::text, true)
