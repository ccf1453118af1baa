-- How many memories a run has changed for one reason.
SELECT count(DISTINCT c.memory_id)
  FROM engram.memory_changes c
 WHERE c.tenant_id = %(tenant_id)s AND c.run_id = %(run_id)s::uuid AND c.because = %(because)s
