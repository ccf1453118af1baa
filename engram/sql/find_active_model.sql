-- The number of the model in use.
SELECT model_id FROM engram.embedding_models WHERE tenant_id = %(tenant_id)s AND state = 'active'
