-- Of several sayings those of which something was made and all of it was superseded or forgotten: nothing of them is told.
SELECT s.memory_id::text
  FROM engram.agent_memory s
  JOIN engram.memory_sources q ON q.tenant_id = s.tenant_id AND q.event_id = s.event_id AND q.ordinal < 10000
  JOIN engram.agent_memory f ON f.tenant_id = q.tenant_id AND f.memory_id = q.memory_id
 WHERE s.tenant_id = %(tenant_id)s AND s.memory_id = ANY(%(said_ids)s::uuid[])
   AND coalesce(f.category, '') NOT IN ('verbatim', 'source_chunk')
 GROUP BY s.memory_id
HAVING bool_and(f.status IN ('superseded', 'deleted'))
