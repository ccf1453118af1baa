-- Queue again the jobs whose worker was lost.
SELECT engram.rescue_jobs(%(limit)s, %(max_crashes)s)
