-- What users said in a scope after a memory of it was told last, word for word, the nearest to it first: some of it may say what has
-- become of that. The server keeps the plan.
SELECT s.memory_id::text, s.fact, s.cosine
  FROM engram.said_since(%(tenant_id)s, %(scope_id)s, %(own)s, %(model_id)s, %(graphed)s::bigint[], %(memory_id)s::uuid, %(few)s,
                         %(fetch)s, %(trusted)s::smallint[]) s
 ORDER BY s.cosine DESC, s.memory_id
 LIMIT %(few)s
