-- The distilled memories that some events were cited for: what has been made of them already, and what of it was forgotten. An event
-- that something said later was only read with is none of these (a number from 10000 on, as everywhere).
SELECT q.event_id::text, q.memory_id::text, m.fact,
       m.status = 'deleted' AND m.status_reason IS NOT DISTINCT FROM 'forgotten' AS forgotten,
       m.status = 'quarantined' AS quarantined
  FROM engram.memory_sources q
  JOIN engram.agent_memory m ON m.tenant_id = q.tenant_id AND m.memory_id = q.memory_id AND m.scope_id = %(scope_id)s
 WHERE q.tenant_id = %(tenant_id)s AND q.event_id = ANY(%(event_ids)s::uuid[]) AND q.ordinal < 10000
   AND coalesce(m.category, '') NOT IN ('verbatim', 'source_chunk')
