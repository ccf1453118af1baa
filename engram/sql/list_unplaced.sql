-- The vectors of memories that are in no topic yet.
SELECT e.memory_id::text, halfvec_send(e.embedding) AS vector, m.private, m.trust
  FROM engram.memory_embeddings e
  JOIN engram.agent_memory m ON m.tenant_id = e.tenant_id AND m.memory_id = e.memory_id
 WHERE e.tenant_id = %(tenant_id)s AND e.scope_id = %(scope_id)s AND e.model_id = %(model_id)s
   AND m.scope_id = e.scope_id AND /*placed*/
   AND NOT EXISTS (SELECT FROM engram.memory_topic_members k
                    WHERE k.tenant_id = e.tenant_id AND k.scope_id = e.scope_id AND k.memory_id = e.memory_id
                      AND k.topic_id IS NOT NULL)
 ORDER BY e.memory_id
 LIMIT %(limit)s
