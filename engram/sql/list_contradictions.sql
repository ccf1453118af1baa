-- The memories that contradict a memory and have no key that orders them.
SELECT CASE WHEN r.source_id = %(memory_id)s::uuid THEN r.target_id ELSE r.source_id END::text AS memory_id
  FROM engram.memory_relations r
 WHERE r.tenant_id = %(tenant_id)s AND r.relation_type = 'contradicts' AND r.ended_at IS NULL
   AND (r.source_id = %(memory_id)s::uuid OR r.target_id = %(memory_id)s::uuid)
   AND (%(known_at)s::timestamptz IS NULL OR r.recorded_at <= %(known_at)s::timestamptz)
