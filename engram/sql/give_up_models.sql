-- Give up whatever other model was being built.
WITH given_up AS (
  UPDATE engram.embedding_models SET state = 'retired', changed_at = clock_timestamp()
   WHERE tenant_id = %(tenant_id)s AND state = 'building' AND model_id <> %(model_id)s
  RETURNING model_id),
forgotten AS (
  DELETE FROM engram.embedding_backlog b USING given_up WHERE b.tenant_id = %(tenant_id)s AND b.model_id = given_up.model_id)
SELECT count(*) FROM given_up
