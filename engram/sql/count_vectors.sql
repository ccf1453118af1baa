-- How many memories there are to embed, and how many of them have a vector of a model.
SELECT count(*) AS total,
       count(*) FILTER (WHERE EXISTS (
         SELECT FROM engram.memory_embeddings e
          WHERE e.tenant_id = m.tenant_id AND e.scope_id = m.scope_id AND e.model_id = %(model_id)s AND e.memory_id = m.memory_id)) AS done
  FROM engram.agent_memory m
 WHERE m.tenant_id = %(tenant_id)s AND m.fact <> ''
