-- Pairs of like memories that nobody has judged, the most alike first; none that was judged distinct. Each is looked up by its ids, in the
-- order of the index: a page reads no more pairs than it passes.
SELECT p.low_id::text, p.high_id::text, p.similarity
  FROM engram.memory_pairs p
 CROSS JOIN LATERAL (
       SELECT FROM engram.agent_memory m
        WHERE m.tenant_id = p.tenant_id AND m.memory_id = p.low_id AND m.layer = ANY(%(layers)s) AND /*taking part*/ OFFSET 0) low
 CROSS JOIN LATERAL (
       SELECT FROM engram.agent_memory o
        WHERE o.tenant_id = p.tenant_id AND o.memory_id = p.high_id AND o.layer = ANY(%(layers)s)
          AND o.status = 'active' AND NOT o.moot AND o.consolidated_into IS NULL AND o.critical_slot IS NULL AND NOT o.private OFFSET 0) high
 WHERE p.tenant_id = %(tenant_id)s AND p.scope_id = %(scope_id)s AND p.model_id = %(model_id)s AND p.verdict IS NULL
   AND p.similarity >= %(least)s AND p.similarity < %(most)s
   AND (p.similarity, p.low_id, p.high_id) < (%(before)s::float8, %(low)s::uuid, %(high)s::uuid)
   AND NOT EXISTS (SELECT FROM engram.memory_pairs q
                    WHERE q.tenant_id = p.tenant_id AND q.low_id = p.low_id AND q.high_id = p.high_id AND q.verdict IS NOT NULL OFFSET 0)
   AND NOT EXISTS (SELECT FROM engram.memory_relations r
                    WHERE r.tenant_id = p.tenant_id AND r.source_id = p.low_id AND r.target_id = p.high_id
                      AND r.relation_type = 'kept_apart' AND r.ended_at IS NULL OFFSET 0)
   AND NOT EXISTS (SELECT FROM engram.memory_relations r
                    WHERE r.tenant_id = p.tenant_id AND r.source_id = p.high_id AND r.target_id = p.low_id
                      AND r.relation_type = 'kept_apart' AND r.ended_at IS NULL OFFSET 0)
 ORDER BY p.similarity DESC, p.low_id DESC, p.high_id DESC
 LIMIT %(limit)s
