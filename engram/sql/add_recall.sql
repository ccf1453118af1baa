-- Log a recall; repeated after a lost answer, it changes nothing. Its commit waits for no disk: a crash may lose the newest rows.
INSERT INTO engram.recall_log (tenant_id, recall_id, scope_id, scope_ids, known_at, kind, query, words, plan, found, chosen, intent,
  degraded, versions, tokens, milliseconds)
SELECT %(tenant_id)s, %(recall_id)s::uuid, %(scope_id)s::bigint, %(scope_ids)s::bigint[],
       coalesce(%(known_at)s::timestamptz, clock_timestamp()), %(kind)s, %(query)s, %(words)s::text[], %(plan)s::jsonb, %(found)s::jsonb,
       %(chosen)s::uuid[], %(intent)s, %(degraded)s::text[], %(versions)s::jsonb, %(tokens)s::integer, %(milliseconds)s::float8
  FROM set_config('synchronous_commit', 'off', true)
ON CONFLICT (tenant_id, recall_id) DO NOTHING
