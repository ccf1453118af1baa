-- Keep the vectors a model is recognised by, where it has none yet.
UPDATE engram.embedding_models SET probes = %(probes)s::halfvec[]
 WHERE tenant_id = %(tenant_id)s AND model_id = %(model_id)s AND probes IS NULL
