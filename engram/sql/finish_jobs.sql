-- Jobs are done, those whose lease is still ours.
SELECT engram.finish_jobs(%(job_ids)s::uuid[], %(lease_tokens)s::uuid[])
