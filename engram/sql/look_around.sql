-- The memories nearest to some that have not been looked at, by one model; they count as looked at from now on.
WITH asked AS MATERIALIZED (
  SELECT m.memory_id, e.embedding
    FROM engram.agent_memory m
    JOIN engram.memory_embeddings e
      ON e.tenant_id = m.tenant_id AND e.scope_id = m.scope_id AND e.model_id = %(model_id)s AND e.memory_id = m.memory_id
   WHERE m.tenant_id = %(tenant_id)s AND m.scope_id = %(scope_id)s AND m.memory_id > %(after)s::uuid
     AND /*taking part*/
     AND NOT EXISTS (SELECT FROM engram.memory_looks l
                      WHERE l.tenant_id = m.tenant_id AND l.scope_id = m.scope_id AND l.memory_id = m.memory_id
                        AND l.model_id = %(model_id)s)
   ORDER BY m.memory_id
   LIMIT %(limit)s),
near AS MATERIALIZED (
  SELECT a.memory_id AS one, n.memory_id AS two, max(n.cosine) AS cosine
    FROM asked a CROSS JOIN LATERAL (/*near*/) n
   WHERE n.cosine >= %(least)s
   GROUP BY a.memory_id, n.memory_id),
paired AS (
  INSERT INTO engram.memory_pairs (tenant_id, scope_id, low_id, high_id, model_id, similarity)
  SELECT %(tenant_id)s, %(scope_id)s, least(n.one, n.two), greatest(n.one, n.two), %(model_id)s, max(least(1, n.cosine))
    FROM near n
    JOIN engram.agent_memory m ON m.tenant_id = %(tenant_id)s AND m.memory_id = n.two
   WHERE /*taking part*/
   GROUP BY least(n.one, n.two), greatest(n.one, n.two)
  ON CONFLICT DO NOTHING),
looked AS (
  INSERT INTO engram.memory_looks (tenant_id, scope_id, memory_id, model_id)
  SELECT %(tenant_id)s, %(scope_id)s, a.memory_id, %(model_id)s FROM asked a
  ON CONFLICT DO NOTHING)
SELECT a.memory_id::text FROM asked a ORDER BY a.memory_id
