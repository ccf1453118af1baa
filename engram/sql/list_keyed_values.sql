-- What was said under the keys of the user's slots in a scope, the newest first: the heads, and what they replaced. Of what was written
-- at one moment the last to be said comes first.
SELECT fact, conflict_key, status
  FROM engram.agent_memory
 WHERE tenant_id = %(tenant_id)s AND scope_id = %(scope_id)s AND conflict_key LIKE 'slot:profile:%%'
   AND status IN ('active', 'superseded') AND NOT moot AND NOT private
 ORDER BY recorded_at DESC, event_id DESC, ordinal DESC, memory_id DESC
 LIMIT 200
