-- The events of streams that wait for derivers, stream by stream and in order; of each stream only so many. Short messages of users come
-- with the two events before them, of which only messages tell their words: those that wait for nobody here have an empty `derive`.
WITH behind AS MATERIALIZED (
SELECT e.tenant_id, e.stream_id, e.position, e.event_id, e.scope_id, e.role, e.event_type, e.trust, e.occurred_at, e.recorded_at,
       e.session_id, e.task_run_id, e.actor, e.idempotency_key, e.hash, e.derive, p.body
  FROM (SELECT g.stream_id, min(g.after) AS after, array_agg(g.deriver) AS derivers, array_agg(g.after) AS afters
          FROM (SELECT u.stream_id, w.deriver,
                       -- Where each deriver stands, as `list_cursors` tells it.
                       coalesce((SELECT max(d.position) FROM engram.derivations d
                                  WHERE d.tenant_id = engram.current_tenant() AND d.stream_id = u.stream_id
                                    AND d.deriver = w.deriver), 0) AS after
                  FROM unnest(%(stream_ids)s::uuid[]) u (stream_id)
                 CROSS JOIN unnest(%(derivers)s::text[], %(versions)s::integer[]) w (deriver, version)) g
         GROUP BY g.stream_id) s
 CROSS JOIN LATERAL (
   SELECT x.tenant_id, x.stream_id, x.position, x.event_id, x.scope_id, x.role, x.event_type, x.trust, x.occurred_at, x.recorded_at,
          x.session_id, x.task_run_id, x.actor, x.idempotency_key, x.hash, x.derive
     FROM engram.agent_events x
    WHERE x.tenant_id = engram.current_tenant() AND x.stream_id = s.stream_id AND x.position > s.after
      AND EXISTS (SELECT FROM unnest(s.derivers, s.afters) w (deriver, after)
                   WHERE x.position > w.after AND w.deriver = ANY (x.derive))
    ORDER BY x.position
    LIMIT %(limit)s) e
  LEFT JOIN LATERAL (
   -- The limit keeps a planner that has not met the tenant yet on the key.
   SELECT b.body FROM engram.agent_event_payloads b
    WHERE b.tenant_id = e.tenant_id AND b.stream_id = e.stream_id AND b.position = e.position
    LIMIT 1) p ON true)
SELECT b.tenant_id, b.stream_id, b.position, b.event_id, b.scope_id, b.role, b.event_type, b.trust, b.occurred_at, b.recorded_at,
       b.session_id, b.task_run_id, b.actor, b.idempotency_key, b.hash, b.derive, b.body
  FROM behind b
 UNION ALL
SELECT c.tenant_id, c.stream_id, c.position, c.event_id, c.scope_id, c.role, c.event_type, c.trust, c.occurred_at, c.recorded_at,
       c.session_id, c.task_run_id, c.actor, c.idempotency_key, c.hash, c.derive, c.body
  FROM (SELECT DISTINCT r.stream_id, q.position, r.tenant_id
          FROM behind r
         CROSS JOIN LATERAL (VALUES (r.position - 2), (r.position - 1)) q (position)
         WHERE r.role = 'user' AND octet_length(r.body) <= %(short)s AND q.position > 0
           AND NOT EXISTS (SELECT FROM behind k WHERE k.stream_id = r.stream_id AND k.position = q.position)) a
 CROSS JOIN LATERAL (
   SELECT e.tenant_id, e.stream_id, e.position, e.event_id, e.scope_id, e.role, e.event_type, e.trust, e.occurred_at, e.recorded_at,
          e.session_id, e.task_run_id, e.actor, e.idempotency_key, e.hash, '{}'::text[] AS derive, p.body
     FROM engram.agent_events e
     LEFT JOIN engram.agent_event_payloads p
       ON p.tenant_id = e.tenant_id AND p.stream_id = e.stream_id AND p.position = e.position
      AND e.event_type IN ('assistant_message', 'user_message')
    WHERE e.tenant_id = engram.current_tenant() AND e.stream_id = a.stream_id AND e.position = a.position
    LIMIT 1) c
 ORDER BY 2, 3
