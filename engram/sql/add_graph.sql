-- Note that vectors of a scope are in the graph of a model.
INSERT INTO engram.memory_graphs (tenant_id, scope_id, model_id)
VALUES (%(tenant_id)s, %(scope_id)s, %(model_id)s)
    ON CONFLICT DO NOTHING
