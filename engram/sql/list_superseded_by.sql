-- The memories that a memory supersedes, without those that were forgotten. The reader fills in their rows, of now or as they
-- stood at a moment.
SELECT m.memory_id::text
  FROM /*source*/
 WHERE /*visible*/ AND m.superseded_by = %(memory_id)s::uuid AND m.status <> 'deleted'
 ORDER BY m.revision DESC, m.memory_id
