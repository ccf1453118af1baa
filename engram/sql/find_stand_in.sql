-- The memory of a shadow that stands for a live one: by its id, and where there is none by the statement it was made of.
SELECT coalesce(
  (SELECT s.memory_id FROM engram.agent_memory s
    WHERE s.tenant_id = %(tenant_id)s AND s.scope_id = %(shadow_id)s
      AND s.memory_id = engram.redigit(%(memory_id)s::uuid, '7', %(digit)s)),
  (SELECT s.memory_id FROM engram.agent_memory s
    WHERE s.tenant_id = %(tenant_id)s AND s.scope_id = %(shadow_id)s AND right(s.memory_id::text, 8) = %(ending)s
    ORDER BY s.memory_id LIMIT 1),
  (SELECT s.memory_id FROM engram.agent_memory m
     JOIN engram.memory_sources q ON q.tenant_id = m.tenant_id AND q.event_id = m.event_id AND q.ordinal = m.ordinal
      AND q.deriver IS NOT DISTINCT FROM m.deriver
     JOIN engram.agent_memory s ON s.tenant_id = q.tenant_id AND s.memory_id = q.memory_id AND s.scope_id = %(shadow_id)s
    WHERE m.tenant_id = %(tenant_id)s AND m.scope_id = %(scope_id)s
      AND (m.memory_id = %(memory_id)s::uuid OR right(m.memory_id::text, 8) = %(ending)s)
    ORDER BY s.memory_id LIMIT 1))::text AS memory_id
