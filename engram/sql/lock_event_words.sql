-- Let one transaction at a time write the words of a scope's events, or take away those of an event that is being erased.
SELECT pg_advisory_xact_lock(hashtextextended(%(key)s, 27))
