-- What was remembered lately beside the core, newest first: in the last epochs of each scope in which anything was. The latest of them,
-- which no cycle need ever end, counts by the hour. Evidence shows where nothing was distilled of it, and that of a task run is the run's.
-- The reader fills in the rows of its moment and what is current there.
WITH held AS MATERIALIZED (
  SELECT m.memory_id, m.scope_id, m.born_epoch, m.recorded_at, m.event_id, m.task_run_id, m.category,
         (/*current*/ AND NOT m.moot AND m.layer <> 'core' AND m.critical_slot IS NULL) IS TRUE AS wanted
    FROM /*source*/
   WHERE /*visible*/),
lived AS (
  SELECT h.*, CASE WHEN h.born_epoch = max(h.born_epoch) OVER (PARTITION BY h.scope_id)
                   THEN date_trunc('hour', h.recorded_at, 'UTC') END AS hour
    FROM held h),
aged AS (
  SELECT l.*, dense_rank() OVER (PARTITION BY l.scope_id ORDER BY l.born_epoch DESC, l.hour DESC) AS age
    FROM lived l)
SELECT h.memory_id::text
  FROM aged h
 WHERE h.wanted AND h.age <= %(epochs)s
   AND (coalesce(h.category, '') <> ALL (%(evidence)s)
        OR (h.category = 'verbatim' AND h.task_run_id IS NULL
            AND NOT EXISTS (SELECT FROM held d WHERE d.event_id = h.event_id AND coalesce(d.category, '') <> ALL (%(evidence)s))))
 ORDER BY h.recorded_at DESC, h.memory_id
 LIMIT %(limit)s
