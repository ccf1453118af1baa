-- The newest events of the scopes that a deriver has not come to yet and that no memory rests on: of the streams that wait, those
-- that were appended to last, and of each its newest events, up to a bound in all.
WITH waiting AS MATERIALIZED (
  SELECT h.stream_id, h.derived, h.derivable, h.recorded_at
    FROM unnest(%(scope_ids)s::bigint[]) c (scope_id)
   CROSS JOIN LATERAL (
         SELECT s.stream_id, s.kind, s.derived, s.derivable, s.recorded_at
           FROM engram.event_streams s
          WHERE s.tenant_id = %(tenant_id)s AND s.scope_id = c.scope_id AND s.waiting
          ORDER BY s.stream_id DESC
          LIMIT 1000) h
   WHERE h.kind <> 'document'
   ORDER BY h.recorded_at DESC, h.stream_id
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
       e.session_id, e.task_run_id, e.actor, e.idempotency_key, e.hash, p.body
  FROM (SELECT n.tenant_id, n.stream_id, n.position, n.event_id, n.scope_id, n.role, n.event_type, n.trust, n.occurred_at, n.recorded_at,
               n.session_id, n.task_run_id, n.actor, n.idempotency_key, n.hash
          FROM bounded b
         CROSS JOIN LATERAL (
               SELECT x.tenant_id, x.stream_id, x.position, x.event_id, x.scope_id, x.role, x.event_type, x.trust, x.occurred_at,
                      x.recorded_at, x.session_id, x.task_run_id, x.actor, x.idempotency_key, x.hash
                 FROM engram.agent_events x
                WHERE x.tenant_id = %(tenant_id)s AND x.stream_id = b.stream_id AND x.position > b.slowest AND x.position <= b.derivable
                  AND EXISTS (SELECT FROM unnest(b.names, b.positions) d (name, position)
                               WHERE d.name = ANY (x.derive) AND x.position > d.position)
                  AND (SELECT true FROM engram.agent_memory m WHERE m.tenant_id = x.tenant_id AND m.event_id = x.event_id LIMIT 1) IS NULL
                  AND (SELECT h.forgotten_at FROM engram.agent_task_runs h
                        WHERE h.tenant_id = x.tenant_id AND h.task_run_id = x.task_run_id) IS NULL
                ORDER BY x.position DESC
                LIMIT %(limit)s) n
         WHERE b.before < 10 * %(limit)s
         ORDER BY n.recorded_at DESC, n.stream_id, n.position DESC
         LIMIT %(limit)s) e
 CROSS JOIN LATERAL (
       SELECT b.body
         FROM engram.agent_event_payloads b
        WHERE b.tenant_id = %(tenant_id)s AND b.stream_id = e.stream_id AND b.position = e.position
        LIMIT 1) p
 ORDER BY e.recorded_at DESC, e.stream_id, e.position DESC
