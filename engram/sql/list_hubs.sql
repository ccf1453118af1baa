-- The hubs that some memories are part of.
SELECT r.source_id::text AS memory_id, r.target_id::text AS hub_id
  FROM engram.memory_relations r
  JOIN engram.agent_memory m ON m.tenant_id = r.tenant_id AND m.memory_id = r.target_id AND m.scope_id = %(scope_id)s
 WHERE r.tenant_id = %(tenant_id)s AND r.source_id = ANY(%(memory_ids)s::uuid[]) AND r.relation_type = 'part_of'
   AND r.ended_at IS NULL AND /*placed*/
 ORDER BY r.source_id, r.target_id
