-- The memories that contradict a memory and have no key that orders them.
SELECT CASE WHEN r.source_id = %(memory_id)s::uuid THEN r.target_id ELSE r.source_id END::text AS memory_id
  FROM engram.memory_relations r
 WHERE %(as_of)s::timestamptz IS NULL AND %(known_at)s::timestamptz IS NULL
   AND r.tenant_id = %(tenant_id)s AND r.relation_type = 'contradicts' AND r.ended_at IS NULL
   AND (r.source_id = %(memory_id)s::uuid OR r.target_id = %(memory_id)s::uuid)
 UNION
SELECT CASE WHEN r.source_id = %(memory_id)s::uuid THEN r.target_id ELSE r.source_id END::text
  FROM (VALUES (false), (true)) w(inbound)
 CROSS JOIN LATERAL engram.relations_at(
        %(memory_id)s::uuid, w.inbound, %(as_of)s::timestamptz, %(known_at)s::timestamptz) r
 WHERE (%(as_of)s::timestamptz IS NOT NULL OR %(known_at)s::timestamptz IS NOT NULL) AND r.relation_type = 'contradicts'
