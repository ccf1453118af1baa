-- Erase what an event said and append the event that says so.
SELECT event_id, stream_id, position, recorded_at, status
  FROM engram.redact_event(
    p_event => %(event_id)s::uuid, p_redaction => %(redaction_id)s::uuid, p_trust => %(trust)s::smallint,
    p_actor => %(actor)s::text, p_salt => %(salt)s::bytea, p_body => %(body)s::bytea,
    p_inner => %(inner)s::bytea, p_outer => %(outer)s::bytea)
