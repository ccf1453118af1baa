-- Pairs of the newest core memories of a scope that are nearer to each other than a limit, the newer of each first.
WITH core AS (
  SELECT m.memory_id, m.recorded_at, e.embedding
    FROM engram.agent_memory m
    JOIN engram.memory_embeddings e
      ON e.tenant_id = m.tenant_id AND e.scope_id = m.scope_id AND e.memory_id = m.memory_id AND e.model_id = %(model_id)s
   WHERE m.tenant_id = %(tenant_id)s AND m.scope_id = %(scope_id)s AND m.layer = 'core' AND m.status = 'active' AND NOT m.moot
     AND m.consolidated_into IS NULL AND m.critical_slot IS NULL
   ORDER BY m.recorded_at DESC, m.memory_id
   LIMIT %(limit)s)
SELECT DISTINCT ON (b.memory_id) b.memory_id::text, a.memory_id::text AS other_id
  FROM core a
  JOIN core b ON (a.recorded_at, a.memory_id) < (b.recorded_at, b.memory_id)
 WHERE 1 - (a.embedding <=> b.embedding) > %(least)s
 ORDER BY b.memory_id, a.embedding <=> b.embedding, a.memory_id
