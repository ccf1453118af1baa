-- After a change of model: what waited for a vector of the old one has one of the new, and what the new one could not embed waits.
UPDATE engram.agent_memory m
   SET embed_state = CASE WHEN b.memory_id IS NULL THEN 'embedded' ELSE 'pending' END
  FROM (SELECT a.memory_id FROM engram.agent_memory a
         WHERE a.tenant_id = %(tenant_id)s AND a.embed_state = 'pending'
           AND EXISTS (SELECT FROM engram.memory_embeddings e
                        WHERE e.tenant_id = a.tenant_id AND e.scope_id = a.scope_id AND e.model_id = %(model_id)s
                          AND e.memory_id = a.memory_id)
         UNION
        SELECT f.memory_id FROM engram.embedding_backlog f WHERE f.tenant_id = %(tenant_id)s AND f.model_id = %(model_id)s) due
  LEFT JOIN engram.embedding_backlog b
    ON b.tenant_id = %(tenant_id)s AND b.model_id = %(model_id)s AND b.memory_id = due.memory_id
 WHERE m.tenant_id = %(tenant_id)s AND m.memory_id = due.memory_id AND m.fact <> ''
RETURNING m.scope_id, m.embed_state
