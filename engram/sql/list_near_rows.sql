-- What is current among some memories, as the gates compare it; evidence rows are no neighbours of facts. Each is asked for by its key
-- alone: with more to go by, or where it sees which tenant that is, a planner that has not met it yet would read all of it for each.
SELECT m.memory_id::text, m.scope_id, m.fact, m.conflict_key, m.valid_from, m.valid_from_stated, m.private, m.expires_at, m.ended_at,
       clock_timestamp() AS now
  FROM unnest(%(memory_ids)s::uuid[]) AS w (memory_id)
 CROSS JOIN LATERAL (
       SELECT b.memory_id, b.scope_id, b.fact, b.conflict_key, b.valid_from, b.valid_from_stated, b.private, b.expires_at, b.ended_at,
              b.status, b.moot, b.consolidated_into, b.category
         FROM engram.agent_memory b
        WHERE b.tenant_id = (SELECT %(tenant_id)s) AND b.memory_id = w.memory_id OFFSET 0) m
 WHERE m.status = 'active' AND NOT m.moot AND m.consolidated_into IS NULL
   AND coalesce(m.category, '') NOT IN ('verbatim', 'source_chunk')
