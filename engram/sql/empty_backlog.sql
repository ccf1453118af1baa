-- The list of a model that is built.
DELETE FROM engram.embedding_backlog WHERE tenant_id = %(tenant_id)s AND model_id = %(model_id)s
