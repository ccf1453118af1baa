-- Current memories of a scope that the life cycle keeps something in mind about, in pieces by id.
SELECT m.memory_id::text, m.recorded_at, m.fact, m.event_id::text, m.memory_type, m.category, m.tags, m.importance, m.layer,
       m.critical_slot IS NOT NULL AS critical, coalesce(a.access_count, 0) AS accesses, coalesce(a.repetition_count, 0) AS repetitions,
       m.born_epoch, m.layer_epoch, a.accessed_epoch, m.expires_at, m.trust, m.marks
  FROM engram.agent_memory m
  LEFT JOIN engram.memory_activity a ON a.tenant_id = m.tenant_id AND a.memory_id = m.memory_id
 WHERE m.tenant_id = %(tenant_id)s AND m.scope_id = %(scope_id)s AND m.marks <> '{}' AND m.status = 'active' AND NOT m.moot
   AND m.consolidated_into IS NULL AND (%(mark)s::text IS NULL OR m.marks ? %(mark)s::text)
   AND (%(after)s::uuid IS NULL OR m.memory_id > %(after)s::uuid)
 ORDER BY m.memory_id
 LIMIT %(limit)s
