-- Store vectors of memories whose text is still what was embedded: one that is erased meanwhile gets none.
INSERT INTO engram.memory_embeddings (tenant_id, scope_id, model_id, memory_id, embedding, windowed)
SELECT m.tenant_id, m.scope_id, %(model_id)s, m.memory_id, v.embedding, v.windowed
  FROM unnest(%(memory_ids)s::uuid[], %(vectors)s::halfvec[], %(windowed)s::boolean[]) v(memory_id, embedding, windowed)
  JOIN (SELECT a.tenant_id, a.scope_id, a.memory_id FROM engram.agent_memory a
         WHERE a.tenant_id = %(tenant_id)s AND a.memory_id = ANY(%(memory_ids)s::uuid[]) AND a.fact <> ''
         ORDER BY a.memory_id FOR SHARE) m ON m.memory_id = v.memory_id
    ON CONFLICT DO NOTHING
