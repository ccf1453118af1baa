-- Make the model that was built the active one.
UPDATE engram.embedding_models SET state = 'active', changed_at = clock_timestamp()
 WHERE tenant_id = %(tenant_id)s AND model_id = %(model_id)s AND state = 'building'
