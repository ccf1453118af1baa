-- The tenant of this transaction.
SELECT engram.current_tenant()
