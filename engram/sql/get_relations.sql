-- Relations by what they are, in the order asked for, whether they stand or not.
SELECT r.source_id::text, r.target_id::text, r.relation_type, r.weight, r.auto, r.metadata, r.recorded_at, r.ended_at
  FROM unnest(%(source_ids)s::uuid[], %(target_ids)s::uuid[], %(relation_types)s::text[])
       WITH ORDINALITY g (source_id, target_id, relation_type, place)
 CROSS JOIN LATERAL (
       SELECT o.source_id, o.target_id, o.relation_type, o.weight, o.auto, o.metadata, o.recorded_at, o.ended_at
         FROM engram.memory_relations o
        WHERE o.tenant_id = %(tenant_id)s AND o.source_id = g.source_id AND o.target_id = g.target_id AND o.relation_type = g.relation_type
        LIMIT 1) r
 ORDER BY g.place
