-- The current memory of a scope with exactly this text and no key, and what a revision of it must know. What is private is
-- revised by what is private only, and the other way round: else one who may not see it would read nothing in its place. What
-- would give it a key that another memory has by now finds none: then its key decides.
SELECT memory_id::text, lineage_id::text, importance
  FROM engram.agent_memory
 WHERE tenant_id = %(tenant_id)s AND scope_id = %(scope_id)s AND fact_hash = %(fact_hash)s AND status = 'active'
   AND NOT moot AND private = %(private)s AND conflict_key IS NULL AND coalesce(category, '') NOT IN ('verbatim', 'source_chunk')
   AND (%(conflict_key)s::text IS NULL OR NOT EXISTS (
         SELECT FROM engram.agent_memory h
          WHERE h.tenant_id = %(tenant_id)s AND h.scope_id = %(scope_id)s AND h.conflict_key = %(conflict_key)s
            AND h.status = 'active'))
 ORDER BY stands_recorded_at DESC, stands_event_id DESC, stands_ordinal DESC, memory_id
 LIMIT 1
