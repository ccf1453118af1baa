-- Lock conflict keys, exact texts and lineages for this transaction, always in the same order so that no two writers deadlock.
SELECT pg_advisory_xact_lock(k)
  FROM (SELECT DISTINCT hashtextextended(key, 7) AS k FROM unnest(%(keys)s::text[]) AS key ORDER BY k OFFSET 0) AS sorted
