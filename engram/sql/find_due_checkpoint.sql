-- Whether a task run has come so far since its last checkpoint, in events or in bytes, that it is time for another.
SELECT t.scope_id, t.stream_id::text, s.position, last.version, s.position - last.position AS behind
  FROM engram.agent_task_runs t
  JOIN engram.event_streams s ON s.tenant_id = t.tenant_id AND s.stream_id = t.stream_id
 CROSS JOIN LATERAL (
       SELECT coalesce(max(c.version), 0) AS version, coalesce(max(c.position), 0) AS position
         FROM engram.agent_checkpoints c WHERE c.tenant_id = t.tenant_id AND c.task_run_id = t.task_run_id) last
 WHERE t.tenant_id = %(tenant_id)s AND t.task_run_id = %(task_run_id)s AND t.forgotten_at IS NULL
   AND (s.position - last.position >= %(every)s
     OR (SELECT sum(octet_length(p.body)) FROM engram.agent_event_payloads p
          WHERE p.tenant_id = t.tenant_id AND p.stream_id = t.stream_id AND p.position > last.position
            AND p.position > s.position - %(every)s) >= %(bytes)s)
