-- The nearest current facts of a scope by meaning; evidence rows are no neighbours of facts.
WITH near AS MATERIALIZED (
  SELECT e.memory_id, 1 - (e.embedding <=> %(vector)s::halfvec) AS cosine
    FROM engram.memory_embeddings e
   WHERE e.tenant_id = %(tenant_id)s AND e.scope_id = %(scope_id)s AND e.model_id = %(model_id)s
   ORDER BY e.embedding <=> %(vector)s::halfvec, e.memory_id
   LIMIT 64)
SELECT m.memory_id::text, m.fact, near.cosine, m.conflict_key, m.valid_from, m.valid_from_stated
  FROM near
  JOIN engram.agent_memory m ON m.tenant_id = %(tenant_id)s AND m.memory_id = near.memory_id
 WHERE m.status = 'active' AND NOT m.moot AND m.consolidated_into IS NULL
   AND (m.expires_at IS NULL OR m.expires_at > coalesce(%(now)s::timestamptz, clock_timestamp()))
   AND (m.ended_at IS NULL OR m.ended_at > coalesce(%(now)s::timestamptz, clock_timestamp()))
   AND coalesce(m.category, '') NOT IN ('verbatim', 'source_chunk')
   AND m.private = %(private)s AND (NOT m.private OR m.scope_id = %(own)s)
 ORDER BY near.cosine DESC, m.memory_id
 LIMIT 8
