-- The temporal channel: the memories that began to hold inside a window, nearest its centre first, then those that held in it.
temporal AS MATERIALIZED (
  SELECT m.memory_id, CASE WHEN m.valid_from >= %(window_start)s::timestamptz
                           THEN 1 - 0.5 * least(1, abs(extract(epoch FROM m.valid_from - %(window_centre)s::timestamptz))::float8
                                                   / greatest(1, %(window_half)s::float8))
                           ELSE 0.25 END AS nearness
    FROM world m
   WHERE m.valid_from < %(window_end)s::timestamptz
     AND (m.valid_from >= %(window_start)s::timestamptz OR m.valid_to > %(window_start)s::timestamptz)
     AND /*loose*/
   ORDER BY nearness DESC, m.memory_id
   LIMIT %(fetch)s)
