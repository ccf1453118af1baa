-- Let the memories of a scope that lack a vector of the model in use wait for one; where there is no model none waits.
UPDATE engram.agent_memory m SET embed_state = 'pending'
  FROM engram.embedding_models a
 WHERE m.tenant_id = %(tenant_id)s AND m.scope_id = %(scope_id)s AND m.embed_state <> 'pending' AND m.fact <> ''
   AND a.tenant_id = m.tenant_id AND a.state = 'active'
   AND NOT EXISTS (SELECT FROM engram.memory_embeddings e
                    WHERE e.tenant_id = m.tenant_id AND e.scope_id = m.scope_id AND e.memory_id = m.memory_id AND e.model_id = a.model_id)
