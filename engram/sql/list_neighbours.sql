-- Current facts among some memories, in the order given; evidence rows are no neighbours of facts.
SELECT m.memory_id::text, m.fact, NULL::float8 AS cosine, m.conflict_key, m.valid_from, m.valid_from_stated, m.ended_at
  FROM unnest(%(memory_ids)s::uuid[]) WITH ORDINALITY AS named (memory_id, place)
  JOIN engram.agent_memory m ON m.tenant_id = %(tenant_id)s AND m.memory_id = named.memory_id
 WHERE m.status = 'active' AND NOT m.moot AND m.consolidated_into IS NULL
   AND (m.expires_at IS NULL OR m.expires_at > coalesce(%(now)s::timestamptz, clock_timestamp()))
   AND (m.ended_at IS NULL OR m.ended_at > coalesce(%(now)s::timestamptz, clock_timestamp()))
   AND coalesce(m.category, '') NOT IN ('verbatim', 'source_chunk')
   AND m.private = %(private)s AND (NOT m.private OR m.scope_id = %(own)s)
 ORDER BY named.place
 LIMIT 8
