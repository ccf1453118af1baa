-- Which memories some are related to in any way, or once were: what somebody ended is not said again.
SELECT r.source_id::text, r.target_id::text, r.relation_type
  FROM engram.memory_relations r
 WHERE r.tenant_id = %(tenant_id)s AND r.source_id = ANY(%(memory_ids)s::uuid[])
 UNION ALL
SELECT r.source_id::text, r.target_id::text, r.relation_type
  FROM engram.memory_relations r
 WHERE r.tenant_id = %(tenant_id)s AND r.target_id = ANY(%(memory_ids)s::uuid[])
