-- Forget a lineage, or retract one revision of it.
UPDATE engram.agent_memory
   SET status = 'deleted', status_reason = %(reason)s
 WHERE tenant_id = %(tenant_id)s AND lineage_id = %(lineage_id)s::uuid
   AND (%(memory_id)s::uuid IS NULL OR memory_id = %(memory_id)s::uuid)
   AND status NOT IN ('deleted', 'quarantined')
RETURNING memory_id::text
