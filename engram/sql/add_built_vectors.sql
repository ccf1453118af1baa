-- Store vectors of memories whose text is still what was embedded, and say which these are: one that is erased meanwhile gets none, nor does
-- an id that a switch of projections gave another fact.
WITH spoken AS (
  SELECT a.tenant_id, a.scope_id, a.memory_id, v.embedding, v.windowed
    FROM unnest(%(memory_ids)s::uuid[], %(facts)s::text[], %(vectors)s::halfvec[], %(windowed)s::boolean[])
           v(memory_id, fact, embedding, windowed)
    JOIN engram.agent_memory a ON a.memory_id = v.memory_id AND a.fact = v.fact
   WHERE a.tenant_id = %(tenant_id)s AND a.memory_id = ANY(%(memory_ids)s::uuid[]) AND a.fact <> ''
   ORDER BY a.memory_id
     FOR SHARE OF a),
stored AS (
  INSERT INTO engram.memory_embeddings (tenant_id, scope_id, model_id, memory_id, embedding, windowed)
  SELECT s.tenant_id, s.scope_id, %(model_id)s, s.memory_id, s.embedding, s.windowed FROM spoken s
      ON CONFLICT DO NOTHING)
SELECT s.memory_id::text FROM spoken s
