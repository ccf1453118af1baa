-- The number of the model in use, what its cosines mean, and the text search configuration of a tenant; each null before its first memory.
SELECT engram.model_thresholds(%(tenant_id)s) AS thresholds,
       (SELECT m.model_id FROM engram.embedding_models m WHERE m.tenant_id = %(tenant_id)s AND m.state = 'active') AS model_id,
       (SELECT c.config::text FROM engram.text_search_configs c WHERE c.tenant_id = %(tenant_id)s) AS config
