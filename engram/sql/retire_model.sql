-- The active model makes room for another, under the lock that keeps writers out.
WITH retired AS (
  UPDATE engram.embedding_models SET state = 'retired', changed_at = clock_timestamp()
   WHERE tenant_id = %(tenant_id)s AND state = 'active'
  RETURNING model_id)
SELECT coalesce(min(model_id), 0) AS model_id FROM retired
