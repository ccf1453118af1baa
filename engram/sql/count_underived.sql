-- How many of some events a deriver has yet to read.
SELECT count(*) AS behind
  FROM engram.agent_events e
  CROSS JOIN LATERAL unnest(e.derive) AS wanted(deriver)
 WHERE e.tenant_id = %(tenant_id)s AND e.scope_id = ANY(%(scope_ids)s) AND e.event_id = ANY(%(event_ids)s::uuid[])
   AND (%(deriver)s::text IS NULL OR wanted.deriver = %(deriver)s)
   AND NOT EXISTS (SELECT 1 FROM engram.derivations d
                    WHERE d.tenant_id = e.tenant_id AND d.stream_id = e.stream_id AND d.deriver = wanted.deriver
                      AND d.position >= e.position)
