-- Remove some of the recalls that were logged long ago, of every tenant.
SELECT engram.purge_recalls(%(age)s::interval, %(limit)s)
