-- A retired model has no graph any more.
DELETE FROM engram.memory_graphs g
 USING engram.embedding_models m
 WHERE m.tenant_id = %(tenant_id)s AND m.state = 'retired' AND g.tenant_id = m.tenant_id AND g.model_id = m.model_id
