-- The number of the next revision of a lineage.
SELECT coalesce(max(revision), 0) + 1 FROM engram.agent_memory WHERE tenant_id = %(tenant_id)s AND lineage_id = %(lineage_id)s::uuid
