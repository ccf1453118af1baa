-- Where an event that names a session goes: its newest part, with its head locked; made when there is none yet.
SELECT session_id, stream_id, position, idle, opened_by, ended, unheard, is_new
  FROM engram.enter_session(p_scope => %(scope_id)s, p_session => %(session_id)s, p_stream => %(stream_id)s::uuid,
    p_opened_by => %(opened_by)s, p_metadata => %(metadata)s::jsonb, p_continues => %(continues)s)
