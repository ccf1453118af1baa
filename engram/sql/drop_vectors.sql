-- Delete some vectors of a retired model in some scopes.
DELETE FROM engram.memory_embeddings d
 USING (SELECT e.scope_id, e.memory_id FROM engram.memory_embeddings e
         WHERE e.tenant_id = %(tenant_id)s AND e.scope_id = ANY(%(scope_ids)s) AND e.model_id = %(model_id)s
           AND EXISTS (SELECT FROM engram.embedding_models m
                        WHERE m.tenant_id = %(tenant_id)s AND m.model_id = %(model_id)s AND m.state = 'retired')
         LIMIT %(limit)s) gone
 WHERE d.tenant_id = %(tenant_id)s AND d.model_id = %(model_id)s AND d.scope_id = gone.scope_id AND d.memory_id = gone.memory_id
