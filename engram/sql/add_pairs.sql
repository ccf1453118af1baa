-- Note pairs of like memories, and which memories have been looked at by their words.
WITH paired AS (
  INSERT INTO engram.memory_pairs (tenant_id, scope_id, low_id, high_id, model_id, similarity)
  SELECT %(tenant_id)s, %(scope_id)s, p.low_id, p.high_id, 0, p.similarity
    FROM unnest(%(low_ids)s::uuid[], %(high_ids)s::uuid[], %(similarities)s::float8[]) AS p (low_id, high_id, similarity)
  ON CONFLICT DO NOTHING)
INSERT INTO engram.memory_looks (tenant_id, scope_id, memory_id, model_id)
SELECT %(tenant_id)s, %(scope_id)s, l, 0 FROM unnest(%(memory_ids)s::uuid[]) l
ON CONFLICT DO NOTHING
