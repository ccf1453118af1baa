-- The tree of a scope, the model its tenant uses, and up to a bound how many memories it lacks and how many it holds in vain.
SELECT t.generation, t.model_id, t.rows, t.score, t.changes, t.next_topic, d.model_id AS active_id, d.thresholds, d.dimensions,
       (SELECT count(*) FROM (
          SELECT FROM engram.memory_embeddings e
            JOIN engram.agent_memory m ON m.tenant_id = e.tenant_id AND m.memory_id = e.memory_id
           WHERE e.tenant_id = %(tenant_id)s AND e.scope_id = %(scope_id)s AND e.model_id = d.model_id
             AND /*placed*/
             AND NOT EXISTS (SELECT FROM engram.memory_topic_members k
                              WHERE k.tenant_id = e.tenant_id AND k.scope_id = e.scope_id AND k.memory_id = e.memory_id
                                AND k.topic_id IS NOT NULL)
           LIMIT %(most)s) f) AS fresh,
       (SELECT count(*) FROM (
          SELECT FROM engram.memory_topic_members k
           WHERE k.tenant_id = %(tenant_id)s AND k.scope_id = %(scope_id)s
             AND NOT EXISTS (SELECT FROM engram.agent_memory m
                              WHERE m.tenant_id = k.tenant_id AND m.memory_id = k.memory_id AND m.scope_id = k.scope_id
                                AND /*placed*/)
           LIMIT %(most)s) g) AS gone
  FROM engram.memory_topic_trees t
  LEFT JOIN engram.embedding_models d ON d.tenant_id = t.tenant_id AND d.state = 'active'
 WHERE t.tenant_id = %(tenant_id)s AND t.scope_id = %(scope_id)s
