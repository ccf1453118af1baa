-- Lock conflict keys, exact texts and lineages for this transaction, always in the same order so that no two writers deadlock.
-- Before them the projection of each scope, which writers share, but for those that must be alone with what it holds.
SELECT CASE WHEN s.shared THEN pg_advisory_xact_lock_shared(s.k)::text ELSE pg_advisory_xact_lock(s.k)::text END
  FROM (SELECT DISTINCT hashtextextended(key, 7) AS k, key = ANY(%(shared)s) AS shared, key = ANY(%(first)s) AS first
          FROM unnest(%(keys)s::text[]) AS key
         ORDER BY first DESC, k OFFSET 0) AS s
