-- Look again for erased events and memories in every table.
SELECT place, n FROM engram.scan_erased(%(events)s::uuid[], %(memories)s::uuid[]) WHERE n > 0
