-- A few members of each topic of a scope, those that say most about it: not private, trusted, by id.
SELECT t.topic_id, f.memory_id::text
  FROM engram.memory_topics t
 CROSS JOIN LATERAL (
   SELECT m.memory_id FROM engram.memory_topic_members k
     JOIN engram.agent_memory m ON m.tenant_id = k.tenant_id AND m.memory_id = k.memory_id
    WHERE k.tenant_id = t.tenant_id AND k.scope_id = t.scope_id AND k.topic_id = t.topic_id AND /*placed*/
    ORDER BY m.private, m.trust > %(agent)s, m.memory_id
    LIMIT %(each)s) f
 WHERE t.tenant_id = %(tenant_id)s AND t.scope_id = %(scope_id)s AND t.centre IS NOT NULL
 ORDER BY t.topic_id, f.memory_id
