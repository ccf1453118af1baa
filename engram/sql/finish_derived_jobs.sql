-- Mark done some of the queued jobs of streams whose event has been read by every deriver that waits for it: `extract` is the
-- language model's, `derive` everybody else's. Only up to a position, where one is known, so that no long queue is walked over.
UPDATE engram.memory_jobs j
   SET state = 'done', asleep = false, finished_at = clock_timestamp()
  FROM (SELECT q.tenant_id, q.job_id
          FROM unnest(%(stream_ids)s::uuid[], %(uptos)s::bigint[]) s (stream_id, upto)
          JOIN engram.memory_jobs q ON q.tenant_id = engram.current_tenant() AND q.stream_id = s.stream_id
          JOIN engram.agent_events e ON e.tenant_id = q.tenant_id AND e.stream_id = q.stream_id AND e.position = q.position
         WHERE q.kind IN ('derive', 'extract') AND q.state = 'queued' AND NOT q.payload ? 'upto'
           AND (s.upto IS NULL OR q.position <= s.upto)
           AND NOT EXISTS (
             SELECT FROM unnest(e.derive) AS wanted (deriver)
              WHERE (wanted.deriver = 'llm') = (q.kind = 'extract')
                AND NOT EXISTS (SELECT FROM engram.derivations d
                                 WHERE d.tenant_id = e.tenant_id AND d.stream_id = e.stream_id AND d.deriver = wanted.deriver
                                   AND d.position >= e.position))
         ORDER BY q.stream_id, q.position
         LIMIT 1000
           FOR UPDATE OF q SKIP LOCKED) covered
 WHERE j.tenant_id = covered.tenant_id AND j.job_id = covered.job_id
