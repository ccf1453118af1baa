-- What a scope holds without a key among its newest memories, the newest first: what somebody may say has ended or changed. Of what was
-- written at one moment, as a replay writes all of one question, the last to be said comes first.
SELECT m.fact, m.subject, m.status, m.lineage_id::text
  FROM (SELECT fact, subject, status, moot, private, conflict_key, category, lineage_id, recorded_at, memory_id, event_id, ordinal
          FROM engram.agent_memory
         WHERE tenant_id = %(tenant_id)s AND scope_id = %(scope_id)s
         ORDER BY recorded_at DESC, memory_id
         LIMIT 1000) m
 WHERE m.status IN ('active', 'superseded') AND NOT m.moot AND NOT m.private AND m.conflict_key IS NULL AND length(m.fact) <= 300
   AND coalesce(m.category, '') NOT IN ('verbatim', 'source_chunk')
 ORDER BY m.recorded_at DESC, m.event_id DESC, m.ordinal DESC, m.memory_id
 LIMIT 200
