-- Note a model as being built, unless it is the active one.
INSERT INTO engram.embedding_models (tenant_id, model_id, name, dimensions, state, probes)
VALUES (%(tenant_id)s, %(model_id)s, %(model_name)s, %(dimensions)s, 'building', %(probes)s::halfvec[])
    ON CONFLICT (tenant_id, model_id) DO UPDATE
   SET state = 'building', changed_at = clock_timestamp(), probes = coalesce(embedding_models.probes, EXCLUDED.probes)
 WHERE embedding_models.state = 'retired'
