-- Every memory of a projection as it is compared with another: what it says and is, without clocks and in the ids of live ones. What
-- took the place of one that was erased is not told, nor what superseded what in its lineage on the way: no replay can know it.
SELECT engram.redigit(m.memory_id, %(digit)s, '7')::text AS memory_id, engram.redigit(m.lineage_id, %(digit)s, '7')::text AS lineage_id,
       m.revision,
       row_number() OVER (PARTITION BY m.lineage_id
                          ORDER BY m.stands_at, m.stands_recorded_at, m.stands_event_id, m.stands_ordinal,
                                   m.status_reason IS DISTINCT FROM 'erased', m.revision) AS place,
       CASE WHEN m.status_reason IS DISTINCT FROM 'erased' THEN engram.redigit(m.superseded_by, %(digit)s, '7')::text END AS superseded_by, m.fact, m.main_content, m.memory_type,
       m.category, m.tags, round(m.importance::numeric, 2)::text AS importance, m.confidence, m.trust, m.layer, m.status, m.status_reason,
       m.critical_slot, m.conflict_key, m.topic_key, m.subject, m.attribute, m.value, m.negates, m.moot, m.put_away, m.valid_from,
       m.valid_from_stated, m.valid_to, m.ended_at, m.expires_at, m.source, m.metadata, m.private, m.deriver, m.rule,
       CASE WHEN m.status_reason IS DISTINCT FROM 'erased' THEN engram.redigit(m.consolidated_into, %(digit)s, '7')::text END
         AS consolidated_into, m.marks,
       (SELECT coalesce(jsonb_agg(jsonb_build_array(q.event_id, q.ordinal, q.char_start, q.char_end) ORDER BY q.event_id, q.ordinal), '[]')
          FROM engram.memory_sources q WHERE q.tenant_id = m.tenant_id AND q.memory_id = m.memory_id) AS citations,
       (SELECT coalesce(jsonb_agg(jsonb_build_array(r.relation_type, engram.redigit(r.target_id, %(digit)s, '7'))
                                  ORDER BY r.relation_type, engram.redigit(r.target_id, %(digit)s, '7')), '[]')
          FROM engram.memory_relations r
          JOIN engram.agent_memory o ON o.tenant_id = r.tenant_id AND o.memory_id = r.target_id AND o.scope_id = m.scope_id
         WHERE r.tenant_id = m.tenant_id AND r.source_id = m.memory_id AND r.ended_at IS NULL
           AND NOT (r.relation_type = 'supersedes'
                    AND (o.status_reason IS NOT DISTINCT FROM 'erased'
                         OR o.lineage_id = m.lineage_id
                            AND EXISTS (SELECT FROM engram.agent_memory g
                                         WHERE g.tenant_id = m.tenant_id AND g.lineage_id = m.lineage_id AND g.status_reason = 'erased'))))
         AS relations
  FROM engram.agent_memory m
 WHERE m.tenant_id = %(tenant_id)s AND m.scope_id = %(scope_id)s
 ORDER BY m.lineage_id, m.revision
