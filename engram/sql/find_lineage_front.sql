-- The rows a newcomer must dominate to be head at once: the head, the contested, and those put away.
SELECT m.memory_id::text, m.status, m.status_reason, m.trust, m.stands_at, m.stands_recorded_at, m.stands_event_id::text,
       m.stands_ordinal, m.fact, m.put_away, m.negates, m.moot, m.superseded_by::text, m.valid_from, m.valid_to, m.ended_at
  FROM engram.agent_memory m
 WHERE m.tenant_id = %(tenant_id)s AND m.lineage_id = %(lineage_id)s::uuid
   AND (m.status IN ('active', 'contested', 'archived') OR m.put_away)
