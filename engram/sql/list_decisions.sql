-- The decisions that concern a memory, or came of some events, in the order they were made; with the facts of
-- neighbours that it names without them.
SELECT c.decision,
       (SELECT jsonb_object_agg(m.memory_id, m.fact)
          FROM engram.agent_memory m
         WHERE m.tenant_id = %(tenant_id)s
           AND m.memory_id = ANY (ARRAY(SELECT (n.near->>'memory_id')::uuid FROM jsonb_array_elements(c.decision->'nearest') n(near)
                                         WHERE NOT n.near ? 'fact'))) AS facts
  FROM engram.memory_changes c
 WHERE c.tenant_id = %(tenant_id)s AND c.scope_id = ANY(%(scope_ids)s) AND c.decision IS NOT NULL
   AND NOT EXISTS (SELECT FROM engram.agent_memory p
                    WHERE p.tenant_id = c.tenant_id AND p.memory_id = c.memory_id AND p.private
                      AND p.scope_id IS DISTINCT FROM %(own)s)
   AND (c.memory_id = %(memory_id)s::uuid OR c.event_id = ANY(%(event_ids)s::uuid[]))
 ORDER BY c.change_id
