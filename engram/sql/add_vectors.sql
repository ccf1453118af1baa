-- Store vectors; the first one of a memory and model stays.
INSERT INTO engram.memory_embeddings (tenant_id, scope_id, model_id, memory_id, embedding, windowed)
SELECT %(tenant_id)s, %(scope_id)s, %(model_id)s, v.memory_id, v.embedding, v.windowed
  FROM unnest(%(memory_ids)s::uuid[], %(vectors)s::halfvec[], %(windowed)s::boolean[]) v(memory_id, embedding, windowed)
 ORDER BY v.memory_id
    ON CONFLICT DO NOTHING
