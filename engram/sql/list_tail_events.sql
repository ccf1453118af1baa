-- The newest events of the scopes that a deriver has not come to yet and that no memory rests on.
SELECT e.tenant_id, e.stream_id, e.position, e.event_id, e.scope_id, e.role, e.event_type, e.trust, e.occurred_at, e.recorded_at,
       e.session_id, e.task_run_id, e.actor, e.idempotency_key, e.hash, p.body
  FROM engram.event_streams s
 CROSS JOIN LATERAL (
       SELECT min(coalesce(c.position, 0)) AS position
         FROM unnest(%(derivers)s::text[], %(versions)s::integer[]) d(name, version)
         LEFT JOIN LATERAL (
              SELECT max(x.position) AS position FROM engram.derivations x
               WHERE x.tenant_id = s.tenant_id AND x.stream_id = s.stream_id AND x.deriver = d.name AND x.version <= d.version
              ) c ON true) slowest
  JOIN engram.agent_events e
    ON e.tenant_id = s.tenant_id AND e.stream_id = s.stream_id AND e.position > slowest.position
  JOIN engram.agent_event_payloads p
    ON p.tenant_id = e.tenant_id AND p.stream_id = e.stream_id AND p.position = e.position
 WHERE s.tenant_id = %(tenant_id)s AND s.scope_id = ANY(%(scope_ids)s) AND s.kind <> 'document' AND s.derivable > slowest.position
   AND EXISTS (
       SELECT FROM unnest(%(derivers)s::text[], %(versions)s::integer[]) d(name, version)
         LEFT JOIN LATERAL (
              SELECT max(x.position) AS position FROM engram.derivations x
               WHERE x.tenant_id = s.tenant_id AND x.stream_id = s.stream_id AND x.deriver = d.name AND x.version <= d.version
              ) c ON true
        WHERE d.name = ANY(e.derive) AND e.position > coalesce(c.position, 0))
   AND NOT EXISTS (SELECT FROM engram.agent_memory m WHERE m.tenant_id = e.tenant_id AND m.event_id = e.event_id)
   AND NOT EXISTS (SELECT FROM engram.agent_task_runs h
                    WHERE h.tenant_id = e.tenant_id AND h.task_run_id = e.task_run_id AND h.forgotten_at IS NOT NULL)
 ORDER BY e.recorded_at DESC, e.stream_id, e.position DESC
 LIMIT %(limit)s
