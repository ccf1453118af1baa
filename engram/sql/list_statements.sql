-- The models and prompts behind the statements of a memory, the first one first.
SELECT q.model, q.prompt_hash
  FROM engram.memory_sources q
 WHERE q.tenant_id = %(tenant_id)s AND q.memory_id = %(memory_id)s::uuid AND q.model IS NOT NULL
   AND (%(known_at)s::timestamptz IS NULL OR q.recorded_at <= %(known_at)s::timestamptz)
 ORDER BY q.recorded_at, q.event_id, q.ordinal
