-- Whether a lineage holds anything but what was erased of it.
SELECT EXISTS (
  SELECT FROM engram.agent_memory
   WHERE tenant_id = %(tenant_id)s AND lineage_id = %(lineage_id)s::uuid AND status_reason IS DISTINCT FROM 'erased')
