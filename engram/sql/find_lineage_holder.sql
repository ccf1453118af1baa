-- What a lineage holds: memories, or nothing but what was erased of it; null where it holds nothing.
SELECT CASE WHEN bool_and(status_reason IS NOT DISTINCT FROM 'erased') THEN 'erased' WHEN count(*) > 0 THEN 'memories' END
  FROM engram.agent_memory
 WHERE tenant_id = %(tenant_id)s AND lineage_id = %(lineage_id)s::uuid
