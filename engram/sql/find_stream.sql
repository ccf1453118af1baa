-- The stream of that name in a scope.
SELECT s.stream_id, s.scope_id, s.kind, s.name, s.position, s.derivable, s.head_hash, s.recorded_at
  FROM engram.event_streams s
 WHERE s.tenant_id = engram.current_tenant()
   AND s.scope_id = %(scope_id)s
   AND s.kind = %(kind)s
   AND s.name = %(stream_name)s
