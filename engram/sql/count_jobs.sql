-- How many jobs of some scopes are in each state.
SELECT j.state, count(*) AS jobs
  FROM engram.memory_jobs j
 WHERE j.tenant_id = engram.current_tenant()
   AND (%(scope_ids)s::bigint[] IS NULL OR j.scope_id = ANY (%(scope_ids)s))
 GROUP BY j.state
 ORDER BY j.state
