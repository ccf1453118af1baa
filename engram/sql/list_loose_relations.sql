-- The relations of a memory that are not of its lineage, as they stand.
SELECT r.source_id::text, r.target_id::text, r.relation_type, r.weight, r.auto
  FROM engram.memory_relations r
 WHERE r.tenant_id = %(tenant_id)s AND (r.source_id = ANY(%(memory_ids)s::uuid[]) OR r.target_id = ANY(%(memory_ids)s::uuid[]))
   AND r.ended_at IS NULL AND r.relation_type NOT IN ('supersedes', 'revision_of', 'kept_apart', 'derived_from', 'summarized_by')
 ORDER BY r.source_id, r.target_id, r.relation_type
 LIMIT 1000
