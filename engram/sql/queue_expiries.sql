-- Queue a job for every scope with memories that expired long ago.
SELECT engram.queue_expiries(%(grace)s::interval, %(limit)s)
