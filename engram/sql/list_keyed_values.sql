-- What was said under the keys of the user's slots in a scope, what was said last first: the heads, and what they replaced.
SELECT fact, conflict_key, status, trust, stands_at, stands_recorded_at AS recorded_at, stands_event_id::text AS event_id, stands_ordinal AS ordinal
  FROM engram.agent_memory
 WHERE tenant_id = %(tenant_id)s AND scope_id = %(scope_id)s AND conflict_key LIKE 'slot:profile:%%'
   AND status IN ('active', 'superseded') AND NOT moot AND NOT private
 ORDER BY stands_recorded_at DESC, stands_event_id DESC, stands_ordinal DESC, memory_id DESC
 LIMIT 200
