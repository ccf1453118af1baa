-- The relations of a memory with others that a read may see and that were not put out of sight, the heaviest first. The reader
-- fills in the relations and the ends of its moment.
SELECT r.source_id::text, r.target_id::text, r.relation_type, r.weight, r.auto, r.metadata,
       (SELECT b.recorded_at FROM engram.memory_relations b
         WHERE b.tenant_id = %(tenant_id)s AND b.source_id = r.source_id AND b.target_id = r.target_id
           AND b.relation_type = r.relation_type) AS recorded_at
  FROM (SELECT r.*
          FROM (/*relations*/) r
         WHERE %(relation_types)s::text[] IS NULL OR r.relation_type = ANY(%(relation_types)s)
         ORDER BY r.weight DESC, r.relation_type, r.source_id, r.target_id) r
  /*ends*/
 ORDER BY r.weight DESC, r.relation_type, r.source_id, r.target_id
 LIMIT %(limit)s::bigint
