-- The fence: lock the job under its token, or fail with 55P99.
SELECT engram.hold_job(%(job_id)s::uuid, %(lease_token)s::uuid)
