-- What language models took for a scope outside of jobs since a moment.
SELECT coalesce(sum(c.cost), 0) AS cost
  FROM engram.llm_calls c
 WHERE c.tenant_id = %(tenant_id)s AND c.scope_id = %(scope_id)s AND c.job_id IS NULL AND c.started_at >= %(since)s
   AND c.component IN ('extract', 'adjudicate')
