-- Empty what hangs on whole scopes and on no single event, some rows at a time.
SELECT kind, n FROM engram.erase_scopes(%(scope_ids)s::bigint[], %(empty)s::bytea, %(limit)s::integer)
