-- Memories of a scope whose nearest were not looked for yet, the newest first, with the nearest there are beyond a band and within a
-- distance, and the topic of each.
WITH asked AS MATERIALIZED (
  SELECT k.memory_id, e.embedding, m.lineage_id
    FROM engram.memory_topic_members k
    JOIN engram.agent_memory m ON m.tenant_id = k.tenant_id AND m.memory_id = k.memory_id AND m.scope_id = k.scope_id
    JOIN engram.memory_embeddings e
      ON e.tenant_id = k.tenant_id AND e.scope_id = k.scope_id AND e.model_id = %(model_id)s AND e.memory_id = k.memory_id
   WHERE k.tenant_id = %(tenant_id)s AND k.scope_id = %(scope_id)s AND NOT k.linked AND /*placed*/
   ORDER BY k.memory_id DESC
   LIMIT %(limit)s)
SELECT a.memory_id::text, f.memory_id::text AS near_id, f.cosine, f.topic_id
  FROM asked a
  LEFT JOIN LATERAL (
    SELECT n.memory_id, max(n.cosine) AS cosine, min(k.topic_id) AS topic_id
      FROM (/*near*/) n
      JOIN engram.agent_memory m ON m.tenant_id = %(tenant_id)s AND m.memory_id = n.memory_id AND m.scope_id = %(scope_id)s
      LEFT JOIN engram.memory_topic_members k
        ON k.tenant_id = %(tenant_id)s AND k.scope_id = %(scope_id)s AND k.memory_id = n.memory_id
     WHERE n.cosine >= %(least)s AND n.cosine < %(most)s AND m.lineage_id <> a.lineage_id AND /*placed*/
     GROUP BY n.memory_id
     ORDER BY max(n.cosine) DESC, n.memory_id
     LIMIT %(each)s) f ON true
 ORDER BY a.memory_id DESC, f.cosine DESC, f.memory_id
