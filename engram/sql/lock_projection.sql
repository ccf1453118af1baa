-- Keep every writer of a scope, and every replay of it, out until the end of this transaction.
SELECT pg_advisory_xact_lock(hashtextextended(%(key)s, 7))
