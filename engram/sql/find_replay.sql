-- A shadow, and how far it has come.
SELECT r.shadow_id, r.scope_id, r.replay_id::text, r.state, r.digit, r.policy, r.derivers, r.since, r.place, r.started_at, r.changed_at,
       (SELECT coalesce(max(s.place), 0) FROM engram.replay_steps s WHERE s.tenant_id = r.tenant_id AND s.shadow_id = r.shadow_id) AS steps
  FROM engram.memory_replays r
 WHERE r.tenant_id = %(tenant_id)s AND r.scope_id = %(scope_id)s AND r.replay_id = %(replay_id)s::uuid
