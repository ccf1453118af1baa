-- How many memories wait for a vector of a model, and some of those it cannot embed.
SELECT count(*) FILTER (WHERE error_class IS NULL) AS waiting,
       count(*) FILTER (WHERE error_class IS NOT NULL) AS failed,
       coalesce((array_agg(memory_id::text ORDER BY memory_id) FILTER (WHERE error_class IS NOT NULL))[1:100], '{}') AS failing
  FROM engram.embedding_backlog
 WHERE tenant_id = %(tenant_id)s AND model_id = %(model_id)s
