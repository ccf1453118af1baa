-- What was written since a model began to be built, and waits for its vector; an erased memory has no text any more.
SELECT b.memory_id::text, m.scope_id, m.fact
  FROM engram.embedding_backlog b
  JOIN engram.agent_memory m ON m.tenant_id = b.tenant_id AND m.memory_id = b.memory_id
 WHERE b.tenant_id = %(tenant_id)s AND b.model_id = %(model_id)s AND b.error_class IS NULL
 ORDER BY b.memory_id
 LIMIT %(limit)s
