-- The earlier values of some lineages, the newest first.
SELECT m.memory_id::text
  FROM /*source*/
 WHERE /*visible*/ AND m.lineage_id = ANY(%(lineage_ids)s::uuid[]) AND m.status = 'superseded'
 ORDER BY m.lineage_id, m.revision DESC, m.memory_id
