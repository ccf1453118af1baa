-- Let one call at a time say that its answer is the one to keep under a key.
select pg_advisory_xact_lock(hashtextextended(engram.current_tenant() || encode(%(call_key)s, 'hex'), 60))
