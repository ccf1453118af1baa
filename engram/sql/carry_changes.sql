-- Give memories of a shadow the state that an erased direct change left the live ones in: what it asked for is known only so. With which
-- trust one was endorsed its event still says.
WITH left_behind AS (
  SELECT c.change_id, c.entry, s.memory_id, s.lineage_id,
         jsonb_populate_record(s, c.state - '{status,status_reason,moot,superseded_by,superseded_at,put_away,consolidated_into,valid_to,trust,stands_at,stands_recorded_at,stands_event_id,stands_ordinal}'::text[]
           || CASE WHEN c.entry = 'forgotten' THEN jsonb_build_object('status', 'deleted', 'status_reason', c.state->'status_reason')
                   WHEN c.entry = 'ended' THEN jsonb_build_object('valid_to', c.state->'valid_to')
                   WHEN c.entry = 'restored' THEN '{"status": "superseded", "status_reason": null}'
                   WHEN c.entry IN ('archived', 'expired')
                   THEN jsonb_build_object('status', 'archived', 'status_reason', c.state->'status_reason', 'superseded_by',
                          (SELECT x.memory_id FROM engram.agent_memory x
                            WHERE x.tenant_id = c.tenant_id
                              AND x.memory_id = engram.redigit((c.state->>'superseded_by')::uuid, '7', %(digit)s))) ELSE '{}' END::jsonb
           || jsonb_build_object('consolidated_into',
                (SELECT x.memory_id FROM engram.agent_memory x
                  WHERE x.tenant_id = c.tenant_id
                    AND x.memory_id = engram.redigit((c.state->>'consolidated_into')::uuid, '7', %(digit)s)))
           || coalesce((SELECT jsonb_build_object('trust', least(s.trust, x.trust)) FROM engram.agent_events x
                         WHERE x.tenant_id = c.tenant_id AND x.event_id = c.event_id AND x.event_type = 'memory_endorsed'
                           AND c.because IS NULL), '{}')) AS new
    FROM engram.memory_changes c
    JOIN engram.agent_memory s
      ON s.tenant_id = c.tenant_id AND s.scope_id = %(shadow_id)s AND s.memory_id = engram.redigit(c.memory_id, '7', %(digit)s)
   WHERE c.tenant_id = %(tenant_id)s AND c.scope_id = %(scope_id)s AND c.event_id = %(event_id)s::uuid
     AND c.entry IN ('annotated', 'ended', 'forgotten', 'restored', 'archived', 'expired', 'consolidated', 'rated')
     AND s.status_reason IS DISTINCT FROM 'erased')
UPDATE engram.agent_memory m
   SET memory_type = (l.new).memory_type, category = (l.new).category, tags = (l.new).tags, importance = (l.new).importance,
       confidence = (l.new).confidence, layer = (l.new).layer, critical_slot = (l.new).critical_slot, ended_at = (l.new).ended_at,
       valid_to = (l.new).valid_to, expires_at = (l.new).expires_at, source = (l.new).source, metadata = (l.new).metadata,
       private = (l.new).private, trust = (l.new).trust,
       status = (l.new).status, status_reason = (l.new).status_reason, superseded_by = (l.new).superseded_by,
       consolidated_into = (l.new).consolidated_into, marks = (l.new).marks
  FROM left_behind l
 WHERE m.tenant_id = %(tenant_id)s AND m.memory_id = l.memory_id
RETURNING m.memory_id::text, m.lineage_id::text, l.entry
