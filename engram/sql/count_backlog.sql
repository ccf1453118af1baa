-- How many memories wait for a vector of a model, and some of those it cannot embed; what is there no more waits for none.
SELECT count(*) FILTER (WHERE b.error_class IS NULL) AS waiting,
       count(*) FILTER (WHERE b.error_class IS NOT NULL) AS failed,
       coalesce((array_agg(b.memory_id::text ORDER BY b.memory_id) FILTER (WHERE b.error_class IS NOT NULL))[1:100], '{}') AS failing
  FROM engram.embedding_backlog b
  JOIN engram.agent_memory m ON m.tenant_id = b.tenant_id AND m.memory_id = b.memory_id
 WHERE b.tenant_id = %(tenant_id)s AND b.model_id = %(model_id)s
