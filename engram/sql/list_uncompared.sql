-- The memories that a simulation cannot speak of: a language model gave them, or they changed after its end.
SELECT m.memory_id::text
  FROM engram.agent_memory m
 WHERE m.tenant_id = %(tenant_id)s AND m.scope_id = %(scope_id)s
   AND (m.deriver = %(model)s OR (%(until)s::timestamptz IS NOT NULL AND EXISTS (
        SELECT FROM engram.memory_changes c
         WHERE c.tenant_id = m.tenant_id AND c.memory_id = m.memory_id AND c.recorded_at >= %(until)s::timestamptz)))
