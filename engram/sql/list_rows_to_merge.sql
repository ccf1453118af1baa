-- What is looked at of memories before some of them become one.
SELECT m.memory_id::text, m.fact, m.memory_type, m.category, m.tags, m.importance, m.layer, m.trust, m.conflict_key, m.recorded_at,
       CASE WHEN m.valid_from_stated THEN m.valid_from END AS stated_from, m.expires_at,
       coalesce(m.ended_at, m.valid_to) AS valid_to, m.event_id::text,
       coalesce(a.access_count, 0) AS accesses, coalesce(a.repetition_count, 0) AS repetitions
  FROM engram.agent_memory m
  LEFT JOIN engram.memory_activity a ON a.tenant_id = m.tenant_id AND a.memory_id = m.memory_id
 WHERE m.tenant_id = %(tenant_id)s AND m.scope_id = %(scope_id)s AND m.memory_id = ANY(%(memory_ids)s::uuid[])
   AND /*taking part*/
