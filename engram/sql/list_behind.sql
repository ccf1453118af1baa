-- What the derivers of some scopes have yet to read, the oldest first.
SELECT b.stream_id, b.deriver, b.version, b.position, b.head, b.behind,
       extract(epoch FROM b.oldest_age)::float8 AS oldest_age, b.state, b.last_error
  FROM engram.derivation_backlog b
 WHERE b.tenant_id = engram.current_tenant()
   AND b.scope_id = ANY (%(scope_ids)s)
 ORDER BY b.oldest_age DESC, b.stream_id, b.deriver
 LIMIT %(limit)s
