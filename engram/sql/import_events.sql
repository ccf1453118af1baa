-- Append a batch of exported events to their stream.
SELECT engram.import_events(
    p_scope => %(scope_id)s, p_stream => %(stream_id)s::uuid, p_first => %(first)s::bigint, p_events => %(event_ids)s::uuid[],
    p_roles => %(roles)s::text[], p_types => %(types)s::text[], p_trusts => %(trusts)s::smallint[],
    p_occurred => %(occurred)s::timestamptz[], p_recorded => %(recorded)s::timestamptz[], p_sessions => %(sessions)s::text[],
    p_tasks => %(tasks)s::uuid[], p_actors => %(actors)s::text[], p_keys => %(keys)s::text[], p_derive => %(derive)s::text[],
    p_commitments => %(commitments)s::bytea[], p_salts => %(salts)s::bytea[], p_bodies => %(bodies)s::bytea[],
    p_inner => %(inner)s::bytea, p_outer => %(outer)s::bytea)
