-- Let memories of a shadow rest on an erased event as the live ones do: where they stand in their lineage is not erased.
INSERT INTO engram.memory_sources
SELECT r.*
  FROM engram.memory_sources q
  JOIN engram.agent_memory m ON m.tenant_id = q.tenant_id AND m.memory_id = q.memory_id AND m.scope_id = %(scope_id)s
  JOIN engram.agent_memory s
    ON s.tenant_id = q.tenant_id AND s.scope_id = %(shadow_id)s AND s.memory_id = engram.redigit(m.memory_id, '7', %(digit)s)
 CROSS JOIN LATERAL jsonb_populate_record(q, jsonb_build_object('memory_id', s.memory_id)) r
 WHERE q.tenant_id = %(tenant_id)s AND q.event_id = %(event_id)s::uuid
    ON CONFLICT DO NOTHING
RETURNING memory_id::text, ordinal, holds_at, recorded_at, trust
