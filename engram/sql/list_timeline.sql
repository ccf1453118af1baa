-- The memories of some scopes before a place in time, the latest first, and after it, the earliest first: of each scope by its index,
-- but of a moment of the past those of all. Of one that was erased nothing is left to tell. The reader fills in the rows of its moment.
(SELECT b.memory_id::text, b.valid_from, false AS later
   FROM /*of*/
  CROSS JOIN LATERAL (
        SELECT m.memory_id, m.valid_from, m.recorded_at
          FROM /*source*/
         WHERE /*key*/ AND /*visible*/ AND m.fact <> '' AND (%(statuses)s::text[] IS NULL OR m.status = ANY(%(statuses)s)) AND (/*filter*/)
           AND m.valid_from >= %(since)s::timestamptz AND m.valid_from < %(until)s::timestamptz
           AND (m.valid_from, m.recorded_at, m.memory_id) < (%(valid_from)s::timestamptz, %(recorded_at)s::timestamptz, %(memory_id)s::uuid)
         ORDER BY m.valid_from DESC, m.recorded_at DESC, m.memory_id DESC
         LIMIT %(before)s) b
  ORDER BY b.valid_from DESC, b.recorded_at DESC, b.memory_id DESC
  LIMIT %(before)s)
UNION ALL
(SELECT a.memory_id::text, a.valid_from, true AS later
   FROM /*of*/
  CROSS JOIN LATERAL (
        SELECT m.memory_id, m.valid_from, m.recorded_at
          FROM /*source*/
         WHERE /*key*/ AND /*visible*/ AND m.fact <> '' AND (%(statuses)s::text[] IS NULL OR m.status = ANY(%(statuses)s)) AND (/*filter*/)
           AND m.valid_from >= %(since)s::timestamptz AND m.valid_from < %(until)s::timestamptz
           AND (m.valid_from, m.recorded_at, m.memory_id) > (%(valid_from)s::timestamptz, %(recorded_at)s::timestamptz, %(memory_id)s::uuid)
         ORDER BY m.valid_from, m.recorded_at, m.memory_id
         LIMIT %(after)s) a
  ORDER BY a.valid_from, a.recorded_at, a.memory_id
  LIMIT %(after)s)
