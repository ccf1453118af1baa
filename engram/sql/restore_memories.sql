-- Bring back a forgotten lineage, or one retracted or archived revision; the order then says what each of them is. What is private stays
-- as it is, where the caller is of another scope.
UPDATE engram.agent_memory m
   SET status = 'superseded', status_reason = NULL
  FROM engram.agent_memory named
 WHERE named.tenant_id = %(tenant_id)s AND named.memory_id = %(memory_id)s::uuid
   AND m.tenant_id = %(tenant_id)s AND m.lineage_id = %(lineage_id)s::uuid AND (%(private)s OR NOT m.private)
   AND ((named.status = 'deleted' AND named.status_reason = 'forgotten' AND m.status = 'deleted' AND m.status_reason = 'forgotten')
        OR (m.memory_id = named.memory_id
            AND (named.status = 'archived' OR (named.status = 'deleted' AND named.status_reason = 'retracted'))))
RETURNING m.memory_id::text
