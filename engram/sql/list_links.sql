-- Everything the hash chain of a stream covers, in order; a missing payload with whether a redaction says so.
SELECT e.tenant_id, e.stream_id, e.position, e.event_id, e.scope_id, e.role, e.event_type, e.trust, e.occurred_at, e.recorded_at,
       e.session_id, e.task_run_id, e.actor, e.idempotency_key, e.derive, e.hash_version, e.commitment, e.prev_hash, e.hash,
       p.salt, p.body,
       p.salt IS NULL AND EXISTS (
         SELECT FROM engram.agent_events r
          WHERE r.tenant_id = e.tenant_id AND r.scope_id = e.scope_id AND r.stream_id = e.stream_id AND r.position > e.position
            AND r.idempotency_key = 'redaction:' || e.event_id AND r.event_type = 'redaction') AS redacted
  FROM engram.agent_events e
  LEFT JOIN engram.agent_event_payloads p
    ON p.tenant_id = e.tenant_id AND p.stream_id = e.stream_id AND p.position = e.position
 WHERE e.tenant_id = engram.current_tenant()
   AND e.stream_id = %(stream_id)s
   AND e.position > %(after)s
   AND e.position <= %(until)s
 ORDER BY e.position
 LIMIT %(limit)s
