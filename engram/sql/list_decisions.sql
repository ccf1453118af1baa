-- The decisions that concern a memory, or came of some events, in the order they were made; with the facts of
-- neighbours that it names without them. Event by event and neighbour by neighbour: of a list the planner would guess that reading the
-- whole tenant is as cheap.
SELECT c.decision,
       (SELECT jsonb_object_agg(m.memory_id, m.fact)
          FROM jsonb_array_elements(c.decision->'nearest') n (near)
         CROSS JOIN LATERAL (
               SELECT o.memory_id, o.fact
                 FROM engram.agent_memory o
                WHERE o.tenant_id = %(tenant_id)s AND o.memory_id = (n.near->>'memory_id')::uuid
               OFFSET 0) m
         WHERE NOT n.near ? 'fact') AS facts
  FROM (SELECT o.change_id, o.memory_id, o.scope_id, o.recorded_at, o.decision
          FROM engram.memory_changes o
         WHERE o.tenant_id = %(tenant_id)s AND o.memory_id = %(memory_id)s::uuid
         UNION ALL
        SELECT o.change_id, o.memory_id, o.scope_id, o.recorded_at, o.decision
          FROM unnest(%(event_ids)s::uuid[]) g (event_id)
         CROSS JOIN LATERAL (
           SELECT x.change_id, x.memory_id, x.scope_id, x.recorded_at, x.decision
             FROM engram.memory_changes x
            WHERE x.tenant_id = %(tenant_id)s AND x.event_id = g.event_id
              AND (x.memory_id = %(memory_id)s::uuid) IS NOT TRUE
           OFFSET 0) o) c
 WHERE c.scope_id = ANY(%(scope_ids)s) AND c.decision IS NOT NULL
   AND (%(known_at)s::timestamptz IS NULL OR c.recorded_at <= %(known_at)s::timestamptz)
   AND (SELECT p.private AND p.scope_id IS DISTINCT FROM %(own)s::bigint
          FROM engram.agent_memory p
         WHERE p.tenant_id = %(tenant_id)s AND p.memory_id = c.memory_id) IS NOT TRUE
   AND (c.decision->'private' = 'true' AND c.scope_id IS DISTINCT FROM %(own)s::bigint) IS NOT TRUE
 ORDER BY c.change_id
