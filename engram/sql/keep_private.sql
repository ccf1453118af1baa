-- Before a shadow takes the place of the live memories: what an event said that is private by these and by none of the shadow's is as
-- private as it was, for its own scope alone. The refusals of the shadow that speak of it say so, or one that is written here. A relation
-- to a memory of another scope is not made again: it stays with the id, whichever row has it.
WITH hidden AS (
  SELECT DISTINCT p.event_id
    FROM (SELECT c.event_id
            FROM engram.memory_changes c
            LEFT JOIN engram.agent_memory m ON m.tenant_id = c.tenant_id AND m.memory_id = c.memory_id
           WHERE c.tenant_id = %(tenant_id)s AND c.scope_id = %(scope_id)s AND c.event_id IS NOT NULL
             AND (m.private OR c.decision->'private' = 'true')
          UNION ALL
          SELECT r.event_id
            FROM engram.agent_memory m
            JOIN engram.relation_changes r ON r.tenant_id = m.tenant_id AND m.memory_id IN (r.source_id, r.target_id)
           WHERE m.tenant_id = %(tenant_id)s AND m.scope_id = %(scope_id)s AND m.private AND r.event_id IS NOT NULL
             AND (NOT EXISTS (SELECT FROM engram.agent_memory t
                               WHERE t.tenant_id = m.tenant_id AND t.memory_id = engram.redigit(m.memory_id, '7', %(digit)s)
                                 AND t.scope_id = %(shadow_id)s AND t.private)
               OR EXISTS (SELECT FROM engram.agent_memory o
                           WHERE o.tenant_id = r.tenant_id AND o.scope_id = m.scope_id
                             AND o.memory_id = CASE r.source_id WHEN m.memory_id THEN r.target_id ELSE r.source_id END))) p
   WHERE NOT EXISTS (
     SELECT FROM engram.memory_changes s
       LEFT JOIN engram.agent_memory m ON m.tenant_id = s.tenant_id AND m.memory_id = s.memory_id
      WHERE s.tenant_id = %(tenant_id)s AND s.scope_id = %(shadow_id)s AND s.event_id = p.event_id
        AND (m.private OR s.decision->'private' = 'true'))
     AND NOT EXISTS (
     SELECT FROM engram.relation_changes r
       JOIN engram.agent_memory m ON m.tenant_id = r.tenant_id AND m.memory_id IN (r.source_id, r.target_id)
      WHERE r.tenant_id = %(tenant_id)s AND r.event_id = p.event_id AND m.scope_id = %(shadow_id)s AND m.private)),
refused AS (
  UPDATE engram.memory_changes s
     SET decision = s.decision || '{"private": true}'
    FROM hidden h
   WHERE s.tenant_id = %(tenant_id)s AND s.scope_id = %(shadow_id)s AND s.event_id = h.event_id
     AND s.memory_id IS NULL AND s.decision->>'kind' = 'reject'
  RETURNING s.event_id)
INSERT INTO engram.memory_changes (tenant_id, scope_id, entry, event_id, decision)
SELECT %(tenant_id)s, %(shadow_id)s, 'rejected', h.event_id,
       jsonb_build_object('kind', 'reject', 'event_id', h.event_id, 'reasons', jsonb_build_array('no_longer_derived'),
         'nearest', '[]'::jsonb, 'policy', %(policy)s::text, 'private', true)
  FROM hidden h
 WHERE NOT EXISTS (SELECT FROM refused r WHERE r.event_id = h.event_id)
