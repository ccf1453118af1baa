-- The events that still say something which go before an event whose memories are erased. `made`: the life cycle made texts of these
-- memories, or somebody revised one that is kept word for word. `changed`: what it and people did with them: put away, brought back, ended,
-- annotated, related. `based`: what was asked for by a change of their text. `inherited`: what the life cycle did with revisions that may
-- have tags and the like of them.
WITH gone AS (
  SELECT m.memory_id, m.lineage_id, m.scope_id FROM engram.agent_memory m
   WHERE m.tenant_id = %(tenant_id)s
     AND m.event_id = ANY (%(event_id)s::uuid || %(beside)s::uuid[])
     AND (m.event_id = %(event_id)s::uuid OR m.deriver = 'llm' OR EXISTS (SELECT FROM engram.memory_sources a
            WHERE a.tenant_id = m.tenant_id AND a.memory_id = m.memory_id AND a.event_id = %(event_id)s::uuid AND a.ordinal >= 10000))),
line AS (
  SELECT d.memory_id, d.event_id, coalesce(d.source, d.category, d.critical_slot) IS NOT NULL OR d.tags <> '{}' OR d.metadata <> '{}' AS says
    FROM engram.agent_memory d
   WHERE d.tenant_id = %(tenant_id)s AND d.lineage_id IN (SELECT gone.lineage_id FROM gone)),
heir AS (
  SELECT line.memory_id FROM line
   WHERE line.says AND line.memory_id NOT IN (SELECT gone.memory_id FROM gone)
     AND engram.asked_of_a_memory(%(tenant_id)s, line.event_id) ? 'fact'),
made AS (
  SELECT r.target_id AS memory_id, r.source_id AS made_id FROM engram.relation_changes r
   WHERE r.tenant_id = %(tenant_id)s AND r.relation_type = 'derived_from' AND r.target_id IN (SELECT line.memory_id FROM line)
   UNION
  SELECT r.source_id, r.target_id FROM engram.relation_changes r
   WHERE r.tenant_id = %(tenant_id)s AND r.relation_type = 'summarized_by' AND r.source_id IN (SELECT line.memory_id FROM line)),
lived AS (   -- what the life cycle made of each memory of the lineages, or did with it
  SELECT made.memory_id, d.event_id, true AS made FROM made
    JOIN engram.agent_memory d ON d.tenant_id = %(tenant_id)s AND d.memory_id = made.made_id
   UNION ALL
  SELECT c.memory_id, c.event_id, false FROM engram.memory_changes c JOIN line ON line.memory_id = c.memory_id
   WHERE c.tenant_id = %(tenant_id)s),
named AS (
  SELECT l.event_id, CASE WHEN l.memory_id IN (SELECT heir.memory_id FROM heir) THEN 'inherited' WHEN l.made THEN 'made' ELSE 'changed' END AS tie
    FROM lived l
    JOIN engram.agent_events x ON x.tenant_id = %(tenant_id)s AND x.event_id = l.event_id AND x.event_type = %(lifecycle)s
   WHERE l.memory_id IN (SELECT gone.memory_id FROM gone UNION ALL SELECT heir.memory_id FROM heir)
   UNION ALL
  SELECT c.event_id, CASE WHEN engram.asked_of_a_memory(c.tenant_id, c.event_id) ? 'fact' THEN 'based' ELSE 'changed' END
    FROM engram.memory_changes c JOIN gone ON gone.memory_id = c.memory_id
   WHERE c.tenant_id = %(tenant_id)s AND engram.asked_of_a_memory(c.tenant_id, c.event_id) IS NOT NULL
     AND (c.entry = 'reinforced'
          OR c.entry IN ('forgotten', 'restored', 'ended', 'annotated') AND NOT engram.asked_of_a_memory(c.tenant_id, c.event_id) ? 'fact')
   UNION ALL
  SELECT c.event_id, 'based' FROM engram.memory_changes c JOIN line ON line.memory_id = c.memory_id
   WHERE c.tenant_id = %(tenant_id)s AND c.entry = 'revised' AND c.previous_id IN (SELECT gone.memory_id FROM gone)
   UNION ALL   -- what changed nothing, or was refused, names its memory in its request alone
  SELECT x.event_id, CASE WHEN a.asked ? 'fact' THEN 'based' ELSE 'changed' END
    FROM engram.agent_events x
   CROSS JOIN LATERAL engram.asked_of_a_memory(x.tenant_id, x.event_id) a (asked)
   WHERE NOT %(whole)s AND x.tenant_id = %(tenant_id)s AND x.scope_id IN (SELECT gone.scope_id FROM gone)
     AND x.event_type IN ('memory_annotated', 'memory_ended', 'memory_forgotten', 'memory_restored', 'memory_rejected')
     AND right(a.asked ->> 'memory_id', 8) IN (SELECT right(line.memory_id::text, 8) FROM line
                                                WHERE a.asked ? 'fact' OR line.memory_id IN (SELECT gone.memory_id FROM gone))
   UNION ALL   -- nor is a revision of what was said word for word in its lineage
  SELECT d.event_id, 'made' FROM engram.agent_memory d
   WHERE NOT %(whole)s AND d.tenant_id = %(tenant_id)s AND d.scope_id IN (SELECT gone.scope_id FROM gone)
     AND d.deriver IS NULL AND d.category IN ('verbatim', 'source_chunk')
     AND right(engram.asked_of_a_memory(d.tenant_id, d.event_id) ->> 'memory_id', 8) IN (SELECT right(gone.memory_id::text, 8) FROM gone)
   UNION ALL
  SELECT r.event_id, 'changed'
    FROM (SELECT DISTINCT gone.memory_id FROM gone) g
   CROSS JOIN LATERAL (   -- from both ends apart: either of them, in one condition, takes no index
         SELECT r.event_id FROM engram.relation_changes r WHERE r.tenant_id = %(tenant_id)s AND r.source_id = g.memory_id
          UNION ALL
         SELECT r.event_id FROM engram.relation_changes r WHERE r.tenant_id = %(tenant_id)s AND r.target_id = g.memory_id
         OFFSET 0) r
    JOIN engram.agent_events x ON x.tenant_id = %(tenant_id)s AND x.event_id = r.event_id
     AND (x.event_type = %(lifecycle)s OR x.event_type = ANY (%(relating)s)))
SELECT e.tenant_id, e.stream_id, e.position, e.event_id, e.scope_id, e.role, e.event_type, e.trust, e.occurred_at, e.recorded_at,
       e.session_id, e.task_run_id, e.actor, e.idempotency_key, e.hash, p.body, n.ties
  FROM (SELECT event_id, array_agg(DISTINCT tie) AS ties FROM named GROUP BY event_id) n
  JOIN engram.agent_events e ON e.tenant_id = %(tenant_id)s AND e.event_id = n.event_id
  JOIN engram.agent_event_payloads p ON p.tenant_id = e.tenant_id AND p.stream_id = e.stream_id AND p.position = e.position
 WHERE e.event_id <> %(event_id)s::uuid
 ORDER BY e.recorded_at, e.event_id
