-- Lock the key of a call for this transaction, so that of two calls with it one waits for what the other did.
SELECT pg_advisory_xact_lock(hashtextextended(%(key)s, 7))
