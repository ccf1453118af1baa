-- How many jobs of some scopes are in each state. All states are named, as the indexes of a scope's jobs name them.
SELECT j.state, count(*) AS jobs
  FROM engram.memory_jobs j
 WHERE j.tenant_id = engram.current_tenant()
   AND (%(scope_ids)s::bigint[] IS NULL OR j.scope_id = ANY (%(scope_ids)s))
   AND (j.state IN ('queued', 'running', 'paused', 'dead') OR j.state IN ('done', 'cancelled'))
 GROUP BY j.state
 ORDER BY j.state
