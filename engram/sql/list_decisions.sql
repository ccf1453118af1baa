-- The decisions that concern a memory, or came of some events, in the order they were made.
SELECT c.decision
  FROM engram.memory_changes c
 WHERE c.tenant_id = %(tenant_id)s AND c.scope_id = ANY(%(scope_ids)s) AND c.decision IS NOT NULL
   AND (c.memory_id = %(memory_id)s::uuid OR c.event_id = ANY(%(event_ids)s::uuid[]))
 ORDER BY c.change_id
