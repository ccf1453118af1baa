-- The rows a newcomer must dominate to be head at once: the head, the contested, and those put away; beside each, and alone where there
-- are none, the number of the lineage's next revision.
SELECT n.next_revision, m.memory_id::text, m.status, m.status_reason, m.trust, m.stands_at, m.stands_recorded_at, m.stands_event_id::text,
       m.stands_ordinal, m.fact, m.put_away, m.negates, m.moot, m.superseded_by::text, m.valid_from, m.valid_to, m.ended_at
  FROM (SELECT coalesce(max(o.revision), 0) + 1 AS next_revision
          FROM engram.agent_memory o
         WHERE o.tenant_id = %(tenant_id)s AND o.lineage_id = %(lineage_id)s::uuid) AS n
  LEFT JOIN engram.agent_memory m
    ON m.tenant_id = %(tenant_id)s AND m.lineage_id = %(lineage_id)s::uuid
   AND (m.status IN ('active', 'contested', 'archived') OR m.put_away)
