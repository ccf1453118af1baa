-- What is always known: the current memories of the core that are not pinned, those of most importance first. The reader fills in the
-- rows of its moment and what is current there.
SELECT m.memory_id::text
  FROM /*source*/
 WHERE /*visible*/ AND /*current*/ AND NOT m.moot AND m.layer = 'core' AND m.critical_slot IS NULL
 ORDER BY m.importance DESC, m.recorded_at DESC, m.memory_id
 LIMIT %(limit)s
