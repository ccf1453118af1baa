-- The heads of some lineages, whether they have ended or not. The reader fills in the rows of its moment.
SELECT m.lineage_id::text, m.memory_id::text
  FROM /*source*/
 WHERE m.tenant_id = %(tenant_id)s AND m.lineage_id = ANY(%(lineage_ids)s::uuid[]) AND m.status = 'active' AND NOT m.moot
