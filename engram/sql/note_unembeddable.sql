-- Note memories that a model cannot embed.
INSERT INTO engram.embedding_backlog (tenant_id, model_id, memory_id, error_class)
SELECT %(tenant_id)s, %(model_id)s, unnest(%(memory_ids)s::uuid[]), %(error_class)s
    ON CONFLICT (tenant_id, model_id, memory_id) DO UPDATE SET error_class = EXCLUDED.error_class
