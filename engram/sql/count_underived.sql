-- How many of some events a deriver has yet to read. Without a name all count that an event asks for, the language model only as
-- long as a job is on its way to it: what it failed on is derived by rules, and waiting would not change that.
SELECT count(*) AS behind
  FROM unnest(%(event_ids)s::uuid[]) g (event_id)
  CROSS JOIN LATERAL (
       -- Event by event: of a list the planner would guess that reading the whole scope is as cheap.
       SELECT o.tenant_id, o.scope_id, o.stream_id, o.position, o.derive
         FROM engram.agent_events o
        WHERE o.tenant_id = %(tenant_id)s AND o.event_id = g.event_id AND o.scope_id = ANY(%(scope_ids)s)
        LIMIT 1) e
  CROSS JOIN LATERAL unnest(e.derive) AS wanted(deriver)
  CROSS JOIN LATERAL (
       SELECT coalesce(bool_or(j.state IN ('queued', 'running')), false) AS coming,
              coalesce(bool_or(j.payload ? 'upto' AND (%(deriver)s::text IS NOT NULL OR j.state IN ('queued', 'running'))), false) AS left_out
         FROM engram.memory_jobs j
        WHERE wanted.deriver = 'llm' AND j.tenant_id = e.tenant_id AND j.scope_id = e.scope_id AND j.stream_id = e.stream_id
          AND j.state IN ('queued', 'running', 'paused', 'dead')
          AND (j.kind = 'derive' AND j.position = e.position
               OR j.kind = 'extract' AND (NOT j.payload ? 'upto' OR e.position > (j.payload->>'after')::bigint
                                                               AND e.position <= (j.payload->>'upto')::bigint))) work
 WHERE (%(deriver)s::text IS NULL OR wanted.deriver = %(deriver)s)
   AND (work.left_out
        OR (%(deriver)s::text IS NOT NULL OR wanted.deriver <> 'llm' OR work.coming)
           AND NOT EXISTS (SELECT 1 FROM engram.derivations d
                            WHERE d.tenant_id = e.tenant_id AND d.stream_id = e.stream_id AND d.deriver = wanted.deriver
                              AND d.position >= e.position))
