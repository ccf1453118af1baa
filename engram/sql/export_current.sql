-- The current memories of an export, for people: by scope and type, the newest first.
SELECT m.memory_id::text, s.namespace, s.agent_id, s.user_id, m.memory_type, m.category, m.fact, m.main_content, m.tags, m.importance,
       m.confidence, m.trust, m.critical_slot, m.topic_key, m.subject, m.attribute, m.value, m.valid_from, m.valid_to,
       m.recorded_at, m.expires_at, m.source, m.session_id, m.private, m.metadata::text
  FROM engram.agent_memory m
  JOIN engram.memory_scopes s ON s.tenant_id = m.tenant_id AND s.scope_id = m.scope_id AND s.shelf_of IS NULL
 WHERE m.tenant_id = %(tenant_id)s AND m.scope_id = ANY(%(scope_ids)s) AND (NOT m.private OR m.scope_id = ANY(%(own_ids)s))
   AND m.status = 'active' AND NOT m.moot AND m.consolidated_into IS NULL
   AND (m.expires_at IS NULL OR m.expires_at > clock_timestamp()) AND (m.ended_at IS NULL OR m.ended_at > clock_timestamp())
 ORDER BY s.namespace COLLATE "C", s.agent_id COLLATE "C", s.user_id COLLATE "C" NULLS FIRST, m.memory_type, m.recorded_at DESC,
          m.memory_id
