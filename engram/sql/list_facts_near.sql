-- The current facts of a scope nearest to each of several sayings: what each may be about. What a saying was read as may have been
-- superseded or forgotten, all of it: then it is about nothing. The server keeps the plan.
SELECT n.said_id::text, n.memory_id::text, n.fact, n.cosine
  FROM engram.facts_near(%(tenant_id)s, %(scope_id)s, %(own)s, %(model_id)s, %(graphed)s::bigint[], %(said_ids)s::uuid[], %(fetch)s,
                         %(memory_id)s::uuid) n
 WHERE n.said_id NOT IN (
       SELECT s.memory_id
         FROM engram.agent_memory s
         JOIN engram.memory_sources q ON q.tenant_id = s.tenant_id AND q.event_id = s.event_id
         JOIN engram.agent_memory f ON f.tenant_id = q.tenant_id AND f.memory_id = q.memory_id
        WHERE s.tenant_id = %(tenant_id)s AND s.memory_id = ANY(%(said_ids)s::uuid[])
          AND coalesce(f.category, '') NOT IN ('verbatim', 'source_chunk')
        GROUP BY s.memory_id
       HAVING bool_and(f.status IN ('superseded', 'deleted')))
