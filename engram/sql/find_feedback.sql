-- What a call rated.
SELECT f.memory_ids::text[] AS memory_ids, f.value, f.recall_id::text AS recall_id
  FROM engram.memory_feedback f
 WHERE f.tenant_id = %(tenant_id)s AND f.run_id = %(run_id)s::uuid
