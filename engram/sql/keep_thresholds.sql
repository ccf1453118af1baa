-- Keep what the cosines of the model in use mean; the number of rows says whether it is in use still.
UPDATE engram.embedding_models
   SET thresholds = %(thresholds)s
 WHERE tenant_id = %(tenant_id)s AND model_id = %(model_id)s AND state = 'active'
