-- The current memories of a topic, of all leaves under it too, the newest first.
SELECT m.memory_id::text
  FROM engram.memory_topic_members k
  JOIN engram.agent_memory m ON m.tenant_id = k.tenant_id AND m.memory_id = k.memory_id AND m.scope_id = k.scope_id
 WHERE k.tenant_id = %(tenant_id)s AND k.scope_id = %(scope_id)s AND m.scope_id = ANY(%(scope_ids)s)
   AND (k.topic_id = %(topic_id)s OR k.topic_id IN (
     SELECT l.topic_id FROM engram.memory_topics l
      WHERE l.tenant_id = %(tenant_id)s AND l.scope_id = %(scope_id)s AND l.parent_id = %(topic_id)s))
   AND (NOT m.private OR m.scope_id = %(own)s) AND /*placed*/
 ORDER BY m.recorded_at DESC, m.memory_id
 LIMIT %(limit)s
