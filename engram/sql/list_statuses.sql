-- What earlier distillations of sessions said.
SELECT m.memory_id::text, m.fact, e.embedding::float4[] AS vector
  FROM engram.agent_memory m
  LEFT JOIN engram.memory_embeddings e
    ON e.tenant_id = m.tenant_id AND e.scope_id = m.scope_id AND e.model_id = %(model_id)s AND e.memory_id = m.memory_id
 WHERE m.tenant_id = %(tenant_id)s AND m.scope_id = %(scope_id)s AND m.status = 'active' AND m.consolidated_into IS NULL
   AND m.tags @> ARRAY['project-status', 'auto-distilled']
 ORDER BY m.recorded_at DESC, m.memory_id
 LIMIT 100
