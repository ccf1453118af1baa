-- The current facts of a scope nearest to each of several sayings: what each may be about. Of a saying that has changed a memory itself
-- there are none, and none that was made of it; a memory that is asked about is one of them, whatever it is.
SELECT s.memory_id::text AS said_id, m.memory_id::text, m.fact, n.cosine
  FROM unnest(%(said_ids)s::uuid[]) g(memory_id)
 CROSS JOIN LATERAL (
         SELECT s.memory_id, s.event_id FROM engram.agent_memory s
          WHERE s.tenant_id = %(tenant_id)s AND s.memory_id = g.memory_id AND s.scope_id = %(scope_id)s
            AND (NOT s.private OR s.scope_id = %(own)s) OFFSET 0) s
  JOIN engram.memory_embeddings e
    ON e.tenant_id = %(tenant_id)s AND e.scope_id = %(scope_id)s AND e.model_id = %(model_id)s AND e.memory_id = s.memory_id
 CROSS JOIN LATERAL (
         SELECT w.memory_id, max(w.cosine) AS cosine
           FROM engram.near_vectors(%(tenant_id)s, ARRAY[%(scope_id)s::bigint], %(graphed)s::bigint[], %(model_id)s, e.embedding,
                  %(fetch)s) w
          GROUP BY w.memory_id) n
 CROSS JOIN LATERAL (
         SELECT m.memory_id, m.fact, m.event_id, m.scope_id, m.private, m.category, m.status, m.moot, m.consolidated_into, m.expires_at,
                m.ended_at
           FROM engram.agent_memory m
          WHERE m.tenant_id = %(tenant_id)s AND m.memory_id = n.memory_id OFFSET 0) m
 WHERE m.scope_id = %(scope_id)s AND (NOT m.private OR m.scope_id = %(own)s)
   AND m.status = 'active' AND NOT m.moot AND m.consolidated_into IS NULL AND m.event_id <> s.event_id
   AND (m.expires_at IS NULL OR m.expires_at > clock_timestamp()) AND (m.ended_at IS NULL OR m.ended_at > clock_timestamp())
   AND (coalesce(m.category, '') NOT IN ('verbatim', 'source_chunk') OR m.memory_id = %(memory_id)s::uuid)
   AND NOT EXISTS (
         SELECT FROM engram.agent_memory h
          WHERE h.tenant_id = %(tenant_id)s AND h.event_id = s.event_id AND h.scope_id = %(scope_id)s AND h.revision > 1
            AND (NOT h.private OR h.scope_id = %(own)s))
