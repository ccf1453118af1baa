-- Log a recall; repeated after a lost answer, it changes nothing.
INSERT INTO engram.recall_log (tenant_id, recall_id, scope_id, scope_ids, known_at, kind, query, words, plan, found, chosen, intent,
  degraded, versions, tokens, milliseconds)
VALUES (%(tenant_id)s, %(recall_id)s, %(scope_id)s, %(scope_ids)s, coalesce(%(known_at)s::timestamptz, clock_timestamp()), %(kind)s,
  %(query)s, %(words)s, %(plan)s, %(found)s, %(chosen)s::uuid[], %(intent)s, %(degraded)s, %(versions)s, %(tokens)s, %(milliseconds)s)
ON CONFLICT (tenant_id, recall_id) DO NOTHING
