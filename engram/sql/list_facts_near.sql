-- The current facts of a scope nearest to each of several sayings: what each may be about. The server keeps the plan.
SELECT n.said_id::text, n.memory_id::text, n.fact, n.cosine
  FROM engram.facts_near(%(tenant_id)s, %(scope_id)s, %(own)s, %(model_id)s, %(graphed)s::bigint[], %(said_ids)s::uuid[], %(fetch)s,
                         %(memory_id)s::uuid) n
