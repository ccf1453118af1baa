-- Remove some of the jobs that were done or cancelled long ago, of every tenant.
SELECT engram.purge_jobs(%(age)s::interval, %(limit)s)
