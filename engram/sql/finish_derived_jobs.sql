-- Mark done the queued derive jobs of a stream whose event has been read by every deriver that waits for it.
UPDATE engram.memory_jobs j
   SET state = 'done', finished_at = clock_timestamp()
  FROM engram.agent_events e
 WHERE j.tenant_id = engram.current_tenant() AND j.stream_id = %(stream_id)s::uuid AND j.kind = 'derive' AND j.state = 'queued'
   AND e.tenant_id = j.tenant_id AND e.stream_id = j.stream_id AND e.position = j.position
   AND NOT EXISTS (
     SELECT FROM unnest(e.derive) AS wanted (deriver)
      WHERE NOT EXISTS (SELECT FROM engram.derivations d
                         WHERE d.tenant_id = e.tenant_id AND d.stream_id = e.stream_id AND d.deriver = wanted.deriver
                           AND d.position >= e.position))
