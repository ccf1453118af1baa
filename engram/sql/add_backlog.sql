-- Note what was written while a model is being built.
INSERT INTO engram.embedding_backlog (tenant_id, model_id, memory_id)
SELECT %(tenant_id)s, %(model_id)s, unnest(%(memory_ids)s::uuid[])
    ON CONFLICT DO NOTHING
