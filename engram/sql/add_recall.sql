-- Log a recall and count what it returned; repeated after a lost answer, it changes nothing. Its commit waits for no disk: a
-- crash may lose the newest rows. The server keeps the plans.
SELECT engram.note_recall(
         %(tenant_id)s, %(recall_id)s::uuid, %(scope_id)s, %(scope_ids)s::bigint[], %(known_at)s, %(kind)s, %(query)s,
         %(words)s::text[], %(plan)s::jsonb, %(found)s::jsonb, %(chosen)s::uuid[], %(intent)s, %(degraded)s::text[],
         %(versions)s::jsonb, %(tokens)s::integer, %(milliseconds)s::float8, %(memory_ids)s::uuid[])
