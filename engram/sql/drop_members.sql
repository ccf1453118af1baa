-- Take out of the topics of a scope what is not current any more; what it was, and the topics it was in.
DELETE FROM engram.memory_topic_members k
 WHERE k.tenant_id = %(tenant_id)s AND k.scope_id = %(scope_id)s
   AND NOT EXISTS (SELECT FROM engram.agent_memory m
                    WHERE m.tenant_id = k.tenant_id AND m.memory_id = k.memory_id AND m.scope_id = k.scope_id AND /*placed*/)
RETURNING k.memory_id::text, k.topic_id
