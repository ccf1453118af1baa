-- The stream of that name in a scope, made when it is not there yet.
SELECT stream_id, position, recorded_at
  FROM engram.open_stream(p_scope => %(scope_id)s, p_stream => %(stream_id)s::uuid, p_kind => %(kind)s, p_name => %(stream_name)s)
