-- How many of some memories a scope holds, each saying what it says in the file, if it was not erased since, and in its place.
SELECT count(*)
  FROM unnest(%(memory_ids)s::uuid[], %(facts)s::text[], %(contents)s::text[], %(lineage_ids)s::uuid[], %(revisions)s::integer[],
         %(valid_froms)s::timestamptz[], %(recorded)s::timestamptz[], %(event_ids)s::uuid[], %(derivers)s::text[],
         %(versions)s::integer[], %(ordinals)s::integer[])
       n(memory_id, fact, main_content, lineage_id, revision, valid_from, recorded_at, event_id, deriver, deriver_version, ordinal)
  JOIN engram.agent_memory m ON m.tenant_id = %(tenant_id)s AND m.memory_id = n.memory_id AND m.scope_id = %(scope_id)s
 WHERE (m.lineage_id, m.revision, m.valid_from, m.recorded_at, m.event_id, m.ordinal)
     = (n.lineage_id, n.revision, n.valid_from, n.recorded_at, n.event_id, n.ordinal)
   AND (m.deriver, m.deriver_version) IS NOT DISTINCT FROM (n.deriver, n.deriver_version)
   AND (m.status_reason = 'erased' OR (m.fact, m.main_content) IS NOT DISTINCT FROM (n.fact, n.main_content))
