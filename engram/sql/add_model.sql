-- Note an embedding model; it is the active one where there is none yet.
INSERT INTO engram.embedding_models (tenant_id, model_id, name, dimensions, state)
SELECT %(tenant_id)s, %(model_id)s, %(model_name)s, %(dimensions)s,
       CASE WHEN EXISTS (SELECT FROM engram.embedding_models m WHERE m.tenant_id = %(tenant_id)s AND m.state = 'active')
            THEN 'building' ELSE 'active' END
    ON CONFLICT DO NOTHING
