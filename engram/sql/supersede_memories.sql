-- Give rows the place of what another one supersedes, each in its own lineage: its heir, and since when that holds.
UPDATE engram.agent_memory m
   SET status = 'superseded', superseded_by = s.superseded_by,
       superseded_at = coalesce(CASE WHEN m.status = 'superseded' THEN m.superseded_at END, %(at)s::timestamptz, clock_timestamp()),
       valid_to = CASE WHEN s.heir_from IS NULL THEN m.ended_at ELSE greatest(m.valid_from, least(m.ended_at, s.heir_from)) END,
       status_reason = NULL
  FROM unnest(%(memory_ids)s::uuid[], %(heirs)s::uuid[], %(heirs_from)s::timestamptz[]) AS s (memory_id, superseded_by, heir_from)
 WHERE m.tenant_id = %(tenant_id)s AND m.memory_id = s.memory_id
