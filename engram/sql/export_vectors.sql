-- The vectors of the memories of an export under the model in use.
SELECT json_build_object('memory_id', w.memory_id, 'model', a.name, 'dimensions', a.dimensions, 'windowed', w.windowed,
         'values', w.embedding::text::json) AS line
  FROM engram.memory_embeddings w
  JOIN engram.embedding_models a ON a.tenant_id = w.tenant_id AND a.model_id = w.model_id AND a.state = 'active'
  JOIN engram.agent_memory m ON m.tenant_id = w.tenant_id AND m.scope_id = w.scope_id AND m.memory_id = w.memory_id
 WHERE w.tenant_id = %(tenant_id)s AND w.scope_id = ANY(%(scope_ids)s) AND (NOT m.private OR m.scope_id = ANY(%(own_ids)s))
 ORDER BY w.memory_id
