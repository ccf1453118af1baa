-- What a scope holds without a key among its newest memories, what was said last first: what somebody may say has ended or changed.
-- What is told of anything, and not of the user, nobody's news puts away.
SELECT m.fact, m.subject, m.status, m.lineage_id::text, m.trust, m.stands_at,
       m.stands_recorded_at AS recorded_at, m.stands_event_id::text AS event_id, m.stands_ordinal AS ordinal
  FROM (SELECT fact, subject, status, moot, private, conflict_key, category, lineage_id, memory_id, trust, stands_at,
               stands_recorded_at, stands_event_id, stands_ordinal
          FROM (SELECT fact, subject, status, moot, private, conflict_key, category, deriver, lineage_id, memory_id, trust, stands_at,
                       stands_recorded_at, stands_event_id, stands_ordinal, recorded_at
                  FROM engram.agent_memory
                 WHERE tenant_id = %(tenant_id)s AND scope_id = %(scope_id)s
                 ORDER BY recorded_at DESC, memory_id
                 LIMIT 1500) l
         WHERE category IS DISTINCT FROM 'as_said' OR deriver IS NULL -- what is kept as it was said takes no place of these
         ORDER BY recorded_at DESC, memory_id
         LIMIT 1000) m
 WHERE m.status IN ('active', 'superseded') AND NOT m.moot AND NOT m.private AND m.conflict_key IS NULL AND length(m.fact) <= 300
   AND coalesce(m.category, '') NOT IN ('verbatim', 'source_chunk')
 ORDER BY m.stands_recorded_at DESC, m.stands_event_id DESC, m.stands_ordinal DESC, m.memory_id
 LIMIT 200
