-- Append a batch of events to a stream that needs nothing before it; one row an event, in the caller's order, or none where it does.
SELECT place, event_id::text, stream_id::text, position, recorded_at, status, job_id::text, scope_id, before, opened_by
  FROM engram.append_at_once(
    p_namespace => %(namespace)s, p_agent => %(agent_id)s, p_user => %(user_id)s, p_session => %(session_id)s, p_kind => %(kind)s,
    p_name => %(stream_name)s, p_stream => %(stream_id)s::uuid, p_gap => %(gap)s::interval, p_expected => %(expected_position)s::bigint,
    p_events => %(event_ids)s::uuid[], p_jobs => %(job_ids)s::uuid[], p_roles => %(roles)s::text[],
    p_types => %(types)s::text[], p_trusts => %(trusts)s::smallint[], p_occurred => %(occurred)s::timestamptz[],
    p_sessions => %(sessions)s::text[], p_tasks => %(tasks)s::uuid[], p_actors => %(actors)s::text[],
    p_keys => %(keys)s::text[], p_derive => %(derive)s::text[], p_salts => %(salts)s::bytea[],
    p_bodies => %(bodies)s::bytea[], p_inner => %(inner)s::bytea, p_outer => %(outer)s::bytea,
    p_every => %(every)s::bigint)
 ORDER BY place
