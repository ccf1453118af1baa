-- Begin the bookkeeping of a scope's topics; one that has begun stays as it is.
INSERT INTO engram.memory_topic_trees (tenant_id, scope_id) VALUES (%(tenant_id)s, %(scope_id)s) ON CONFLICT DO NOTHING
