-- How many memories some runs changed.
SELECT count(DISTINCT c.memory_id) AS memories
  FROM engram.memory_changes c
 WHERE c.tenant_id = %(tenant_id)s AND c.run_id = ANY(%(run_ids)s::uuid[]) AND c.state IS NOT NULL
