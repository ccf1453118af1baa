-- The tenant's embedding models, the active one first, and what each has: vectors, memories without one, failures.
SELECT m.model_id, m.name, m.dimensions, m.state, m.created_at, m.changed_at, m.probes::text[] AS probes, m.thresholds,
       (SELECT count(*) FROM engram.memory_embeddings e
         WHERE %(counted)s AND e.tenant_id = m.tenant_id AND e.model_id = m.model_id AND e.scope_id IN (
               SELECT s.scope_id FROM engram.memory_scopes s WHERE s.tenant_id = m.tenant_id)) AS vectors,
       (SELECT count(*) FROM engram.embedding_backlog b
         WHERE b.tenant_id = m.tenant_id AND b.model_id = m.model_id AND b.error_class IS NOT NULL) AS failed
  FROM engram.embedding_models m
 WHERE m.tenant_id = %(tenant_id)s
 ORDER BY array_position(ARRAY['active', 'building', 'retired'], m.state), m.changed_at DESC, m.model_id
