-- Open a shadow of a scope, with version digits that no other shadow of it uses; nothing comes back when there are too many.
WITH free AS (
  SELECT p.digit
    FROM (VALUES (1, '8', '9'), (2, 'a', 'b'), (3, 'c', 'd'), (4, 'e', 'f')) p(place, digit, other)
   WHERE NOT EXISTS (SELECT FROM engram.memory_replays r
                      WHERE r.tenant_id = %(tenant_id)s AND r.scope_id = %(scope_id)s AND r.digit IN (p.digit, p.other))
   ORDER BY p.place LIMIT 1),
made AS (
  INSERT INTO engram.memory_scopes (tenant_id, scope_id, namespace, agent_id, user_id, shadow_of)
  OVERRIDING SYSTEM VALUE
  SELECT s.tenant_id, -nextval('engram.memory_scopes_scope_id_seq'), s.namespace, s.agent_id, s.user_id, s.scope_id
    FROM engram.memory_scopes s, free
   WHERE s.tenant_id = %(tenant_id)s AND s.scope_id = %(scope_id)s
  RETURNING scope_id)
INSERT INTO engram.memory_replays (tenant_id, shadow_id, scope_id, replay_id, digit, policy, derivers, since)
SELECT %(tenant_id)s, made.scope_id, %(scope_id)s, %(replay_id)s::uuid, free.digit, %(policy)s, %(derivers)s::text[], %(since)s
  FROM made, free
RETURNING shadow_id
