-- The vectors of the memories of a scope that a tree of topics is made of, by id, with the topic each is in.
SELECT e.memory_id::text, halfvec_send(e.embedding) AS vector, m.private, m.trust, k.topic_id
  FROM engram.memory_embeddings e
  JOIN engram.agent_memory m ON m.tenant_id = e.tenant_id AND m.memory_id = e.memory_id
  LEFT JOIN engram.memory_topic_members k ON k.tenant_id = e.tenant_id AND k.scope_id = e.scope_id AND k.memory_id = e.memory_id
 WHERE e.tenant_id = %(tenant_id)s AND e.scope_id = %(scope_id)s AND e.model_id = %(model_id)s AND e.memory_id > %(after)s::uuid
   AND m.scope_id = e.scope_id AND /*placed*/
 ORDER BY e.memory_id
 LIMIT %(limit)s
