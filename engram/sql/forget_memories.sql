-- Forget a lineage, or retract one revision of it. What stands beside a lineage is a fact of its own, and stays; so does what is private,
-- where the caller is of another scope.
UPDATE engram.agent_memory
   SET status = 'deleted', status_reason = %(reason)s
 WHERE tenant_id = %(tenant_id)s AND lineage_id = %(lineage_id)s::uuid
   AND CASE WHEN %(memory_id)s::uuid IS NULL THEN NOT (moot AND status = 'active') ELSE memory_id = %(memory_id)s::uuid END
   AND status NOT IN ('deleted', 'quarantined') AND (%(private)s OR NOT private)
RETURNING memory_id::text
