-- What ranking asks of memories, as far as the scopes of a read show them. The reader fills in which rows they are, and what else it
-- asks of them.
SELECT m.memory_id::text, m.scope_id, m.memory_type, m.category, m.importance, m.confidence, m.trust, m.layer, m.status,
       m.critical_slot, m.conflict_key, m.moot, m.lineage_id::text, m.revision, m.valid_from, m.recorded_at, m.session_id,
       m.event_id::text, m.actor,
       CASE WHEN m.category IN ('verbatim', 'source_chunk') AND m.session_id IS NOT NULL
            THEN right(m.fact, %(ending)s::integer) ~ %(asking)s::text END AS asks,
       a.access_count, a.last_accessed_at, a.repetition_count
       /*more*/
  FROM /*source*/
  JOIN engram.memory_scopes s ON s.tenant_id = m.tenant_id AND s.scope_id = m.scope_id
  LEFT JOIN engram.memory_activity a ON a.tenant_id = m.tenant_id AND a.memory_id = m.memory_id
 WHERE m.tenant_id = %(tenant_id)s AND (m.scope_id = ANY(%(scope_ids)s) AND (NOT m.private OR m.scope_id = %(own)s)) IS TRUE
 ORDER BY m.revision DESC
