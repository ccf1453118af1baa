-- The rows a newcomer to a lineage must dominate to be head at once, of some lineages: the head, the contested, those put away, and what
-- was erased and holds its place; beside each, and alone where there are none, the number of the lineage's next revision. `summarised`
-- is what a summary has to do with.
SELECT l.lineage_id::text, n.next_revision, m.memory_id::text, m.memory_type, m.category, m.status, m.status_reason, m.trust, m.stands_at,
       m.stands_recorded_at, m.stands_event_id::text, m.stands_ordinal, m.fact, m.put_away, m.negates, m.moot, m.superseded_by::text,
       m.valid_from, m.valid_to, m.ended_at,
       m.consolidated_into IS NOT NULL
         OR (SELECT true FROM engram.agent_memory o
              WHERE o.tenant_id = %(tenant_id)s AND o.consolidated_into = m.memory_id LIMIT 1) IS NOT NULL AS summarised,
       clock_timestamp() AS now
  FROM unnest(%(lineage_ids)s::uuid[]) AS l (lineage_id)
 CROSS JOIN LATERAL (
       SELECT coalesce(max(o.revision), 0) + 1 AS next_revision
         FROM engram.agent_memory o
        WHERE o.tenant_id = %(tenant_id)s AND o.lineage_id = l.lineage_id) AS n
  LEFT JOIN LATERAL (
       SELECT o.memory_id, o.memory_type, o.category, o.status, o.status_reason, o.trust, o.stands_at, o.stands_recorded_at, o.stands_event_id,
              o.stands_ordinal, o.fact, o.put_away, o.negates, o.moot, o.superseded_by, o.valid_from, o.valid_to, o.ended_at,
              o.consolidated_into
         FROM engram.agent_memory o
        WHERE o.tenant_id = %(tenant_id)s AND o.lineage_id = l.lineage_id
          AND (o.status IN ('active', 'contested', 'archived') OR o.put_away
               OR (o.status = 'deleted' AND o.status_reason = 'erased' AND NOT o.moot))
       OFFSET 0) AS m ON true
