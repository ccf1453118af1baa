-- Put the tombstones that an erased event left into a shadow: what they said is gone, their place in a lineage is not. What was
-- erased can be derived by nobody, so they come as they are, into the lineage that holds their key there.
-- Several of one lineage keep their order.
WITH found AS (
  SELECT m.memory_id AS live_id, n.lineage_id, row_number() OVER (PARTITION BY n.lineage_id ORDER BY m.revision, m.memory_id) AS place
    FROM engram.agent_memory m
    LEFT JOIN LATERAL (
         SELECT s.lineage_id FROM engram.agent_memory s
          WHERE s.tenant_id = m.tenant_id AND s.scope_id = %(shadow_id)s AND s.conflict_key = m.conflict_key LIMIT 1) l ON true
   CROSS JOIN LATERAL (SELECT coalesce(l.lineage_id, engram.redigit(m.lineage_id, '7', %(digit)s)) AS lineage_id) n
   WHERE m.tenant_id = %(tenant_id)s AND m.scope_id = %(scope_id)s AND m.event_id = %(event_id)s::uuid AND m.status_reason = 'erased'
     AND NOT EXISTS (SELECT FROM engram.agent_memory s
                      WHERE s.tenant_id = m.tenant_id AND s.memory_id = engram.redigit(m.memory_id, '7', %(digit)s))),
gone AS MATERIALIZED (
  SELECT f.live_id, r.memory
    FROM found f
    JOIN engram.agent_memory m ON m.tenant_id = %(tenant_id)s AND m.memory_id = f.live_id
   CROSS JOIN LATERAL (
         SELECT jsonb_populate_record(m, jsonb_build_object(
                  'memory_id', engram.redigit(m.memory_id, '7', %(digit)s), 'scope_id', %(shadow_id)s, 'lineage_id', f.lineage_id,
                  'superseded_by', NULL, 'consolidated_into', NULL,
                  'revision', (SELECT coalesce(max(x.revision), 0) + f.place FROM engram.agent_memory x
                                WHERE x.tenant_id = m.tenant_id AND x.lineage_id = f.lineage_id))) AS memory) r),
made AS (
  INSERT INTO engram.agent_memory SELECT (g.memory).* FROM gone g RETURNING memory_id, lineage_id),
counted AS (
  INSERT INTO engram.memory_activity (tenant_id, memory_id, scope_id) SELECT %(tenant_id)s, made.memory_id, %(shadow_id)s FROM made),
stated AS (
  INSERT INTO engram.memory_sources
  SELECT r.* FROM gone g
    JOIN engram.memory_sources q ON q.tenant_id = %(tenant_id)s AND q.memory_id = g.live_id
   CROSS JOIN LATERAL jsonb_populate_record(q, jsonb_build_object('memory_id', engram.redigit(g.live_id, '7', %(digit)s))) r),
noted AS (
  INSERT INTO engram.memory_changes (tenant_id, memory_id, scope_id, recorded_at, entry, status, previous_id, state, decision, reason,
    actor, event_id)
  SELECT c.tenant_id, engram.redigit(c.memory_id, '7', %(digit)s), %(shadow_id)s, c.recorded_at, c.entry, c.status,
         engram.redigit(c.previous_id, '7', %(digit)s), engram.redigit_change(c.state, '7', %(digit)s), c.decision, c.reason, c.actor,
         c.event_id
    FROM gone g JOIN engram.memory_changes c ON c.tenant_id = %(tenant_id)s AND c.memory_id = g.live_id
   WHERE c.event_id = %(event_id)s::uuid OR c.entry = 'erased'   -- what others did to it comes of their events
   ORDER BY c.change_id)
SELECT made.memory_id::text, made.lineage_id::text FROM made
