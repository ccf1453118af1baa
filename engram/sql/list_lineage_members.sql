-- Every statement of some lineages that takes part in their order. A text that the life cycle made of others and that was erased is
-- nobody's statement: it holds no place, and neither does an erased negation that stood beside its lineage.
SELECT m.lineage_id::text, m.memory_id::text, m.status, m.status_reason, m.trust, m.stands_at, m.stands_recorded_at,
       m.stands_event_id::text, m.stands_ordinal, m.fact, m.put_away, m.negates, m.moot, m.superseded_by::text, m.valid_from, m.valid_to, m.ended_at
  FROM engram.agent_memory m
 WHERE m.tenant_id = %(tenant_id)s AND m.lineage_id = ANY(%(lineage_ids)s::uuid[])
   AND (m.status IN ('active', 'superseded', 'contested', 'archived')
        OR (m.status = 'deleted' AND m.status_reason = 'erased' AND NOT m.moot
            AND (SELECT e.event_type FROM engram.agent_events e
                  WHERE e.tenant_id = m.tenant_id AND e.event_id = m.stands_event_id) IS DISTINCT FROM 'memory_lifecycle'))
