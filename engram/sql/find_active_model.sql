-- The number of the model in use, and what its cosines mean.
SELECT model_id, thresholds FROM engram.embedding_models WHERE tenant_id = %(tenant_id)s AND state = 'active'
