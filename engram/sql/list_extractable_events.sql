-- The events of a stream that wait for the language model, in order, and whether every other deriver has read each of them.
SELECT e.tenant_id, e.stream_id, e.position, e.event_id, e.scope_id, e.role, e.event_type, e.trust, e.occurred_at, e.recorded_at,
       e.session_id, e.task_run_id, e.actor, e.idempotency_key, e.hash, p.body,
       NOT EXISTS (SELECT FROM unnest(e.derive) AS wanted (deriver)
                    WHERE wanted.deriver <> 'llm'
                      AND NOT EXISTS (SELECT FROM engram.derivations d
                                       WHERE d.tenant_id = e.tenant_id AND d.stream_id = e.stream_id AND d.deriver = wanted.deriver
                                         AND d.position >= e.position)) AS ready
  FROM engram.agent_events e
  LEFT JOIN engram.agent_event_payloads p
    ON p.tenant_id = e.tenant_id AND p.stream_id = e.stream_id AND p.position = e.position
 WHERE e.tenant_id = engram.current_tenant() AND e.stream_id = %(stream_id)s AND e.position > %(after)s
   AND (%(upto)s::bigint IS NULL OR e.position <= %(upto)s)
   AND 'llm' = ANY (e.derive)
 ORDER BY e.position
 LIMIT %(limit)s
