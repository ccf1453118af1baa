-- The vectors of the memories of an export under the model in use.
SELECT json_build_object('memory_id', v.memory_id, 'model', a.name, 'dimensions', a.dimensions, 'windowed', v.windowed,
         'values', v.embedding::text::json) AS line
  FROM engram.memory_embeddings v
  JOIN engram.embedding_models a ON a.tenant_id = v.tenant_id AND a.model_id = v.model_id AND a.state = 'active'
  JOIN engram.agent_memory m ON m.tenant_id = v.tenant_id AND m.scope_id = v.scope_id AND m.memory_id = v.memory_id
 WHERE v.tenant_id = %(tenant_id)s AND v.scope_id = ANY(%(scope_ids)s) AND (NOT m.private OR m.scope_id = ANY(%(own_ids)s))
 ORDER BY v.memory_id
