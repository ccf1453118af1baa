-- The temporal channel: the memories that began to hold inside a window, nearest its centre first, then those that ended in it.
temporal AS MATERIALIZED (
  SELECT t.memory_id, t.nearness
    FROM (SELECT m.memory_id, 1 - 0.5 * least(1, abs(extract(epoch FROM m.valid_from - %(window_centre)s::timestamptz))::float8
                                                 / greatest(1, %(window_half)s::float8)) AS nearness
            FROM /*memories*/ AND m.valid_from >= %(window_start)s::timestamptz AND m.valid_from < %(window_end)s::timestamptz
             AND /*leading*/
           UNION ALL
          SELECT m.memory_id, 0.25
            FROM /*memories*/ AND m.valid_from < %(window_start)s::timestamptz AND m.valid_to > %(window_start)s::timestamptz
             AND /*leading*/) t
   ORDER BY t.nearness DESC, t.memory_id
   LIMIT %(fetch)s)
