-- Look again for words in scopes that were erased whole.
SELECT place, n FROM engram.scan_scopes(%(scope_ids)s::bigint[]) WHERE n > 0
