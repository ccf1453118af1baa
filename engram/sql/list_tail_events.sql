-- The newest events of the scopes that a deriver has not come to yet and that no memory rests on: of the streams that wait, those
-- that were appended to last, and of each its newest events, up to a bound in all.
WITH waiting AS MATERIALIZED (
  SELECT s.stream_id, s.derived, s.derivable, s.recorded_at
    FROM engram.waiting_streams(%(tenant_id)s, %(scope_ids)s::bigint[], '{session,task,scope}') s
   ORDER BY s.recorded_at DESC, s.stream_id
   LIMIT %(limit)s),
started AS MATERIALIZED (
  SELECT w.stream_id, w.derivable, w.recorded_at, min(d.position) AS slowest, array_agg(r.name) AS names, array_agg(d.position) AS positions
    FROM waiting w
   CROSS JOIN unnest(%(derivers)s::text[], %(versions)s::integer[]) r (name, version)
   CROSS JOIN LATERAL (
         SELECT greatest(w.derived, max(x.position)) AS position
           FROM engram.derivations x
          WHERE x.tenant_id = %(tenant_id)s AND x.stream_id = w.stream_id AND x.deriver = r.name AND x.version <= r.version) d
   GROUP BY w.stream_id, w.derivable, w.recorded_at),
bounded AS MATERIALIZED (
  SELECT s.stream_id, s.derivable, s.slowest, s.names, s.positions,
         sum(least(s.derivable - s.slowest, %(limit)s)) OVER (ORDER BY s.recorded_at DESC, s.stream_id) - least(s.derivable - s.slowest, %(limit)s) AS before
    FROM started s
   WHERE s.derivable > s.slowest)
SELECT e.tenant_id, e.stream_id, e.position, e.event_id, e.scope_id, e.role, e.event_type, e.trust, e.occurred_at, e.recorded_at,
       e.session_id, e.task_run_id, e.actor, e.idempotency_key, e.hash, e.body
  FROM bounded b
 CROSS JOIN LATERAL (
       SELECT x.tenant_id, x.stream_id, x.position, x.event_id, x.scope_id, x.role, x.event_type, x.trust, x.occurred_at, x.recorded_at,
              x.session_id, x.task_run_id, x.actor, x.idempotency_key, x.hash, p.body
         FROM engram.agent_events x
        CROSS JOIN LATERAL (
              SELECT q.body
                FROM engram.agent_event_payloads q
               WHERE q.tenant_id = %(tenant_id)s AND q.stream_id = b.stream_id AND q.position = x.position
               LIMIT 1) p
        WHERE x.tenant_id = %(tenant_id)s AND x.stream_id = b.stream_id AND x.position > b.slowest AND x.position <= b.derivable
          AND EXISTS (SELECT FROM unnest(b.names, b.positions) d (name, position)
                       WHERE d.name = ANY (x.derive) AND x.position > d.position)
          AND (SELECT true FROM engram.agent_memory m WHERE m.tenant_id = x.tenant_id AND m.event_id = x.event_id LIMIT 1) IS NULL
          AND (SELECT h.forgotten_at FROM engram.agent_task_runs h
                WHERE h.tenant_id = x.tenant_id AND h.task_run_id = x.task_run_id) IS NULL
        ORDER BY x.position DESC
        LIMIT %(limit)s) e
 WHERE b.before < 10 * %(limit)s
 ORDER BY e.recorded_at DESC, e.stream_id, e.position DESC
 LIMIT %(limit)s
