-- The history of imported relations.
SELECT engram.import_relation_changes(%(source_ids)s::uuid[], %(target_ids)s::uuid[], %(relation_types)s::text[],
    %(recorded)s::timestamptz[], %(holds)s::timestamptz[], %(weights)s::float8[], %(autos)s::boolean[], %(metadata)s::text[],
    %(ended)s::boolean[], %(event_ids)s::uuid[])
