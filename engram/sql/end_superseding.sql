-- End what relations tell of a lineage that is so no more, once something of it was erased: of memories whose place changed, those of another
-- heir than they have now, as if they had never held. What was related by a call stays.
UPDATE engram.memory_relations r
   SET ended_at = clock_timestamp(), changed_at = clock_timestamp(), holds_at = '-infinity', event_id = %(event_id)s
  FROM engram.agent_memory m
 WHERE m.tenant_id = %(tenant_id)s AND m.memory_id = ANY(%(memory_ids)s::uuid[]) AND NOT m.put_away
   AND r.tenant_id = m.tenant_id AND r.target_id = m.memory_id AND r.relation_type = 'supersedes' AND r.ended_at IS NULL
   AND r.source_id IS DISTINCT FROM m.superseded_by
   AND EXISTS (SELECT FROM engram.agent_memory s
                WHERE s.tenant_id = r.tenant_id AND s.memory_id = r.source_id AND s.lineage_id = m.lineage_id)
   AND NOT EXISTS (SELECT FROM engram.agent_events e
                    WHERE e.tenant_id = r.tenant_id AND e.event_id = r.event_id AND e.event_type = %(related)s)
