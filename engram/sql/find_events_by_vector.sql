-- The events whose memories are nearest a vector, exactly: an event is as near as the nearest of them.
WITH near AS MATERIALIZED (
  SELECT x.memory_id, 1 - (x.embedding <=> %(vector)s::halfvec) AS cosine
    FROM engram.memory_embeddings x
   WHERE x.tenant_id = %(tenant_id)s AND x.scope_id = ANY(%(scope_ids)s) AND x.model_id = %(model_id)s
     AND (NOT %(narrowed)s OR x.memory_id IN (
          SELECT m.memory_id
            FROM engram.agent_memory m
            JOIN engram.agent_events e ON e.tenant_id = m.tenant_id AND e.event_id = m.event_id
           WHERE m.tenant_id = %(tenant_id)s AND m.scope_id = ANY(%(scope_ids)s) AND /*allowed*/))
   ORDER BY x.embedding <=> %(vector)s::halfvec, x.memory_id
   LIMIT %(fetch)s)
SELECT e.stream_id::text, e.position, max(n.cosine) AS cosine, (SELECT count(*) FROM near) AS memories
  FROM near n
  JOIN engram.agent_memory m ON m.tenant_id = %(tenant_id)s AND m.memory_id = n.memory_id
  JOIN engram.agent_events e ON e.tenant_id = %(tenant_id)s AND e.event_id = m.event_id
 WHERE /*allowed*/
 GROUP BY e.stream_id, e.position
 ORDER BY cosine DESC, e.stream_id, e.position
