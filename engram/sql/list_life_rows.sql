-- Current memories of one layer of a scope as the life cycle looks at them, in pieces by id; evidence takes no part.
SELECT m.memory_id::text, m.recorded_at, m.fact, m.event_id::text, m.memory_type, m.category, m.tags, m.importance, m.layer,
       m.critical_slot IS NOT NULL AS critical, coalesce(a.access_count, 0) AS accesses, coalesce(a.repetition_count, 0) AS repetitions,
       m.born_epoch, m.layer_epoch, a.accessed_epoch, m.expires_at, m.trust, m.marks
  FROM engram.agent_memory m
  LEFT JOIN engram.memory_activity a ON a.tenant_id = m.tenant_id AND a.memory_id = m.memory_id
 WHERE m.tenant_id = %(tenant_id)s AND m.scope_id = %(scope_id)s AND m.layer = %(layer)s AND m.status = 'active' AND NOT m.moot
   AND m.consolidated_into IS NULL AND coalesce(m.category, '') NOT IN ('verbatim', 'source_chunk')
   AND (%(after)s::uuid IS NULL OR m.memory_id > %(after)s::uuid)
   AND (%(gone)s OR m.expires_at IS NULL OR m.expires_at > %(now)s::timestamptz)
   AND (NOT %(used)s OR coalesce(a.access_count, 0) + coalesce(a.repetition_count, 0) > 0)
 ORDER BY m.memory_id
 LIMIT %(limit)s
