-- The decisions that concern a memory, or came of some events, in the order they were made.
SELECT c.decision
  FROM engram.memory_changes c
 WHERE c.tenant_id = %(tenant_id)s AND c.scope_id = ANY(%(scope_ids)s) AND c.decision IS NOT NULL
   AND NOT EXISTS (SELECT FROM engram.agent_memory p
                    WHERE p.tenant_id = c.tenant_id AND p.memory_id = c.memory_id AND p.private
                      AND p.scope_id IS DISTINCT FROM %(own)s)
   AND (c.memory_id = %(memory_id)s::uuid OR c.event_id = ANY(%(event_ids)s::uuid[]))
 ORDER BY c.change_id
