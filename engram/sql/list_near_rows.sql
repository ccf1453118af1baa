-- What is current among some memories, as the gates compare it; evidence rows are no neighbours of facts.
SELECT m.memory_id::text, m.scope_id, m.fact, m.conflict_key, m.valid_from, m.valid_from_stated, m.private, m.expires_at, m.ended_at,
       clock_timestamp() AS now
  FROM unnest(%(memory_ids)s::uuid[]) AS w (memory_id)
  JOIN engram.agent_memory m ON m.tenant_id = %(tenant_id)s AND m.memory_id = w.memory_id
 WHERE m.status = 'active' AND NOT m.moot AND m.consolidated_into IS NULL
   AND coalesce(m.category, '') NOT IN ('verbatim', 'source_chunk')
