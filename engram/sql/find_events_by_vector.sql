-- The events whose memories are nearest a vector, and how many memories were compared: an event is as near as the nearest of them.
WITH near AS MATERIALIZED (
  SELECT v.memory_id, max(v.cosine) AS cosine
    FROM /*near*/ v
   GROUP BY v.memory_id
   ORDER BY 2 DESC, v.memory_id
   LIMIT %(fetch)s)
SELECT c.memories, g.stream_id::text, g.position, g.cosine
  FROM (SELECT count(*) AS memories FROM near) c
  LEFT JOIN (
       SELECT e.stream_id, e.position, max(n.cosine) AS cosine
         FROM near n
        CROSS JOIN LATERAL (
              SELECT x.event_id FROM engram.agent_memory x WHERE x.tenant_id = %(tenant_id)s AND x.memory_id = n.memory_id OFFSET 0) m
        CROSS JOIN LATERAL (
              SELECT x.tenant_id, x.stream_id, x.position, x.event_id, x.scope_id, x.event_type, x.role, x.session_id, x.task_run_id,
                     x.occurred_at, x.recorded_at
                FROM engram.agent_events x WHERE x.tenant_id = %(tenant_id)s AND x.event_id = m.event_id OFFSET 0) e
        WHERE /*allowed*/
        GROUP BY e.stream_id, e.position) g ON true
 ORDER BY g.cosine DESC, g.stream_id, g.position
