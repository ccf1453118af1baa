-- The fence: lock jobs under their tokens, or fail with 55P99.
SELECT engram.hold_job(g.job_id, g.lease_token)
  FROM (SELECT job_id, lease_token FROM unnest(%(job_ids)s::uuid[], %(lease_tokens)s::uuid[]) u (job_id, lease_token)
         ORDER BY job_id) g
