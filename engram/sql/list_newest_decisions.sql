-- What was decided of the candidates of some scopes, newest first, without what speaks of private memories of others, or of
-- what was refused and was to be one: of each scope its newest, by its index, but of many scopes those of all; with the facts of
-- neighbours that a decision names without them.
SELECT d.change_id, d.place, d.newest, d.recorded_at, d.decision,
       (SELECT jsonb_object_agg(f.memory_id, f.fact)
          FROM engram.agent_memory f
         WHERE f.tenant_id = %(tenant_id)s
           AND f.memory_id = ANY (ARRAY(SELECT (n.near->>'memory_id')::uuid FROM jsonb_array_elements(d.decision->'nearest') n(near)
                                         WHERE NOT n.near ? 'fact'))) AS facts
  FROM (SELECT h.change_id, o.place, max(h.change_id) OVER () AS newest, h.recorded_at, /*turn*/ AS turn, h.decision
          FROM /*of*/
         CROSS JOIN LATERAL (
               SELECT c.change_id, c.recorded_at, c.decision
                 FROM engram.memory_changes c
                WHERE c.tenant_id = %(tenant_id)s AND /*key*/ AND c.decision IS NOT NULL
                  AND (%(kind)s::text IS NULL OR c.decision->>'kind' = %(kind)s)
                  AND (%(since)s::timestamptz IS NULL OR c.recorded_at >= %(since)s)
                  AND (%(known_at)s::timestamptz IS NULL OR c.recorded_at <= %(known_at)s)
                  AND /*before*/
                  AND (SELECT p.private AND p.scope_id IS DISTINCT FROM %(own)s::bigint
                         FROM engram.agent_memory p
                        WHERE p.tenant_id = %(tenant_id)s AND p.memory_id = c.memory_id) IS NOT TRUE
                  AND (c.decision->'private' = 'true' AND c.scope_id IS DISTINCT FROM %(own)s::bigint) IS NOT TRUE
                ORDER BY /*order*/
                LIMIT %(limit)s) h
         ORDER BY turn DESC, h.change_id DESC
         LIMIT %(limit)s) d
 ORDER BY d.turn DESC, d.change_id DESC
