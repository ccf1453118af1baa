-- What users said in a scope after a memory of it was told last, word for word, the nearest to it first: some of it may say what has
-- become of that. Of several who speak there it is what the same one said.
SELECT m.memory_id::text, m.fact
  FROM engram.agent_memory f
  JOIN engram.agent_events v ON v.tenant_id = f.tenant_id AND v.event_id = f.stands_event_id
  JOIN engram.memory_embeddings e
    ON e.tenant_id = %(tenant_id)s AND e.scope_id = %(scope_id)s AND e.model_id = %(model_id)s AND e.memory_id = f.memory_id
 CROSS JOIN LATERAL (
         SELECT w.memory_id, max(w.cosine) AS cosine
           FROM engram.near_vectors(%(tenant_id)s, ARRAY[%(scope_id)s::bigint], %(graphed)s::bigint[], %(model_id)s, e.embedding,
                  %(fetch)s) w
          GROUP BY w.memory_id) n
 CROSS JOIN LATERAL (
         SELECT m.memory_id, m.fact, m.scope_id, m.private, m.category, m.trust, m.status, m.moot, m.consolidated_into, m.expires_at,
                m.ended_at, m.actor, m.stands_at, m.stands_recorded_at, m.stands_event_id
           FROM engram.agent_memory m
          WHERE m.tenant_id = %(tenant_id)s AND m.memory_id = n.memory_id OFFSET 0) m
 WHERE f.tenant_id = %(tenant_id)s AND f.memory_id = %(memory_id)s::uuid
   AND f.scope_id = %(scope_id)s AND (NOT f.private OR f.scope_id = %(own)s)
   AND m.scope_id = %(scope_id)s AND (NOT m.private OR m.scope_id = %(own)s)
   AND m.category = 'verbatim' AND m.trust = ANY(%(trusted)s::smallint[])
   AND m.status = 'active' AND NOT m.moot AND m.consolidated_into IS NULL
   AND (m.expires_at IS NULL OR m.expires_at > clock_timestamp()) AND (m.ended_at IS NULL OR m.ended_at > clock_timestamp())
   AND (f.deriver IS NULL OR m.actor IS NOT DISTINCT FROM f.actor)
   AND (m.stands_at, m.stands_recorded_at, m.stands_event_id) > (v.occurred_at, f.stands_recorded_at, f.stands_event_id)
 ORDER BY n.cosine DESC, m.memory_id
