-- Relations by what they are, in the order asked for, whether they stand or not.
SELECT r.source_id::text, r.target_id::text, r.relation_type, r.weight, r.auto, r.metadata, r.recorded_at, r.ended_at
  FROM unnest(%(source_ids)s::uuid[], %(target_ids)s::uuid[], %(relation_types)s::text[])
       WITH ORDINALITY g (source_id, target_id, relation_type, place)
  JOIN engram.memory_relations r
    ON r.tenant_id = %(tenant_id)s AND r.source_id = g.source_id AND r.target_id = g.target_id AND r.relation_type = g.relation_type
 ORDER BY g.place
