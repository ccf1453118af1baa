-- The topics of the scopes a read may see that have a member it may see: of other scopes nothing that rests on private memories.
SELECT t.scope_id, t.topic_id, t.parent_id, t.name, t.trust, t.named_by,
       CASE WHEN t.scope_id IS NOT DISTINCT FROM %(own)s::bigint THEN t.members ELSE t.shown END AS members
  FROM engram.memory_topics t
 WHERE t.tenant_id = %(tenant_id)s AND t.scope_id = ANY(%(scope_ids)s)
   AND (%(topic_ids)s::integer[] IS NULL OR t.topic_id = ANY(%(topic_ids)s) OR t.parent_id = ANY(%(topic_ids)s))
   AND (t.scope_id IS NOT DISTINCT FROM %(own)s::bigint OR NOT t.private)
   AND EXISTS (
     SELECT FROM engram.memory_topic_members k
       JOIN engram.agent_memory m ON m.tenant_id = k.tenant_id AND m.memory_id = k.memory_id AND m.scope_id = k.scope_id
      WHERE k.tenant_id = t.tenant_id AND k.scope_id = t.scope_id
        AND (k.topic_id = t.topic_id OR k.topic_id IN (
          SELECT l.topic_id FROM engram.memory_topics l
           WHERE l.tenant_id = t.tenant_id AND l.scope_id = t.scope_id AND l.parent_id = t.topic_id))
        AND (NOT m.private OR m.scope_id = %(own)s) AND /*placed*/)
 ORDER BY members DESC, t.scope_id, t.topic_id
