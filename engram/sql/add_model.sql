-- Note the embedding model of a tenant that has none yet.
INSERT INTO engram.embedding_models (tenant_id, model_id, name, dimensions, state, probes)
SELECT %(tenant_id)s, %(model_id)s, %(model_name)s, %(dimensions)s, 'active', %(probes)s::halfvec[]
 WHERE NOT EXISTS (SELECT FROM engram.embedding_models m WHERE m.tenant_id = %(tenant_id)s AND m.state = 'active')
    ON CONFLICT DO NOTHING
