-- Who held some conflict keys in the readable scopes at a moment.
SELECT m.conflict_key, m.scope_id, m.trust, m.memory_id::text
  FROM engram.memories_around(%(scope_ids)s::bigint[], %(as_of)s::timestamptz, %(known_at)s::timestamptz, ARRAY(
         SELECT k.memory_id FROM engram.agent_memory k
          WHERE k.tenant_id = %(tenant_id)s AND k.scope_id = ANY(%(scope_ids)s) AND k.conflict_key = ANY(%(conflict_keys)s))) m
 WHERE m.tenant_id = %(tenant_id)s AND m.scope_id = ANY(%(scope_ids)s) AND m.conflict_key = ANY(%(conflict_keys)s)
   AND m.status = 'active' AND NOT m.moot AND (NOT m.private OR m.scope_id = %(own)s)
   AND (m.expires_at IS NULL OR m.expires_at > coalesce(%(as_of)s::timestamptz, %(known_at)s::timestamptz))
   AND (m.ended_at IS NULL OR m.ended_at > coalesce(%(as_of)s::timestamptz, %(known_at)s::timestamptz))
