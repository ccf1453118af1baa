-- Let the memories of a scope that lack a vector of the model in use wait for one.
UPDATE engram.agent_memory m SET embed_state = 'pending'
 WHERE m.tenant_id = %(tenant_id)s AND m.scope_id = %(scope_id)s AND m.embed_state = 'embedded'
   AND NOT EXISTS (SELECT FROM engram.memory_embeddings e
                     JOIN engram.embedding_models a ON a.tenant_id = e.tenant_id AND a.model_id = e.model_id AND a.state = 'active'
                    WHERE e.tenant_id = m.tenant_id AND e.scope_id = m.scope_id AND e.memory_id = m.memory_id)
