-- Lock conflict keys, exact texts and lineages for this transaction, always in the same order so that no two writers deadlock.
-- Before them what writers share: the projection of each scope, which a switch takes for itself.
SELECT CASE WHEN s.shared THEN pg_advisory_xact_lock_shared(s.k)::text ELSE pg_advisory_xact_lock(s.k)::text END
  FROM (SELECT DISTINCT hashtextextended(key, 7) AS k, key = ANY(%(shared)s) AS shared FROM unnest(%(keys)s::text[]) AS key
         ORDER BY shared DESC, k OFFSET 0) AS s
