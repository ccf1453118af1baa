-- A stream by its id, in some scopes or in any of the tenant.
SELECT s.stream_id, s.scope_id, s.kind, s.name, s.position, s.derivable, s.head_hash, s.recorded_at
  FROM engram.event_streams s
 WHERE s.tenant_id = engram.current_tenant()
   AND s.stream_id = %(stream_id)s
   AND (%(scope_ids)s::bigint[] IS NULL OR s.scope_id = ANY (%(scope_ids)s))
