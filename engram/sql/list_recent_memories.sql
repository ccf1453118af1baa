-- What was remembered lately beside the core, newest first: in the last hours in which anything was. Evidence shows where nothing was
-- distilled of it, and that of a task run is the run's. The reader fills in the rows of its moment and what is current there.
WITH held AS MATERIALIZED (
  SELECT m.memory_id, m.recorded_at, m.event_id, m.task_run_id, m.category,
         (/*current*/ AND NOT m.moot AND m.layer <> 'core' AND m.critical_slot IS NULL) IS TRUE AS wanted
    FROM /*source*/
   WHERE /*visible*/),
since AS (
  SELECT min(h.hour) AS hour
    FROM (SELECT DISTINCT date_trunc('hour', h.recorded_at, 'UTC') AS hour FROM held h ORDER BY hour DESC LIMIT %(epochs)s) h)
SELECT h.memory_id::text
  FROM held h
 WHERE h.wanted AND h.recorded_at >= (SELECT s.hour FROM since s)
   AND (coalesce(h.category, '') <> ALL (%(evidence)s)
        OR (h.category = 'verbatim' AND h.task_run_id IS NULL
            AND NOT EXISTS (SELECT FROM held d WHERE d.event_id = h.event_id AND coalesce(d.category, '') <> ALL (%(evidence)s))))
 ORDER BY h.recorded_at DESC, h.memory_id
 LIMIT %(limit)s
