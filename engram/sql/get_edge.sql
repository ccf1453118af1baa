-- The oldest transaction still open: everything of older ones can be seen, or never will be.
SELECT pg_snapshot_xmin(pg_current_snapshot())::text
