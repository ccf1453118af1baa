-- Of the ten memories nearest some memories by one model: which share is among the ten nearest by another. No model is asked.
SELECT avg(shared.share)::float8 AS overlap, count(shared.share) AS asked
  FROM (SELECT n.scope_id, n.memory_id, n.embedding AS new, o.embedding AS old
          FROM engram.memory_embeddings n
          JOIN engram.memory_embeddings o
            ON o.tenant_id = n.tenant_id AND o.scope_id = n.scope_id AND o.model_id = %(old_id)s AND o.memory_id = n.memory_id
         WHERE n.tenant_id = %(tenant_id)s AND n.model_id = %(model_id)s AND n.scope_id = ANY(%(scope_ids)s)
         ORDER BY md5(n.memory_id::text) LIMIT %(limit)s) q
 CROSS JOIN LATERAL (
       SELECT count(*) FILTER (WHERE b.memory_id IS NOT NULL) / nullif(count(*), 0)::float8 AS share
         FROM (SELECT e.memory_id FROM engram.memory_embeddings e
                WHERE e.tenant_id = %(tenant_id)s AND e.scope_id = q.scope_id AND e.model_id = %(old_id)s
                  AND e.memory_id <> q.memory_id
                ORDER BY e.embedding <=> q.old, e.memory_id LIMIT 10) a
         LEFT JOIN (SELECT e.memory_id FROM engram.memory_embeddings e
                WHERE e.tenant_id = %(tenant_id)s AND e.scope_id = q.scope_id AND e.model_id = %(model_id)s
                  AND e.memory_id <> q.memory_id
                ORDER BY e.embedding <=> q.new, e.memory_id LIMIT 10) b ON b.memory_id = a.memory_id) shared
