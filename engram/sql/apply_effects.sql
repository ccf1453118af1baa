-- Give memories the columns that deeds say; what a deed does not name stays. A lineage or a key has one head at every moment: who
-- would be a second one steps back, and the order decides.
UPDATE engram.agent_memory m
   SET memory_type = r.memory_type, category = r.category, tags = r.tags, importance = r.importance, confidence = r.confidence,
       trust = r.trust, layer = r.layer,
       layer_epoch = CASE WHEN r.layer <> m.layer AND NOT s.columns ? 'layer_epoch'
                          THEN (SELECT p.epoch FROM engram.memory_scopes p WHERE p.scope_id = m.scope_id AND p.tenant_id = m.tenant_id)
                          ELSE r.layer_epoch END,
       marks = r.marks,
       status = CASE WHEN r.status = 'active' AND NOT r.moot AND m.status <> 'active' AND EXISTS (
                          SELECT FROM engram.agent_memory o
                           WHERE o.tenant_id = m.tenant_id AND o.memory_id <> m.memory_id AND o.status = 'active' AND NOT o.moot
                             AND (o.lineage_id = m.lineage_id OR o.scope_id = m.scope_id AND o.conflict_key = m.conflict_key))
                     THEN 'superseded' ELSE r.status END,
       status_reason = r.status_reason, critical_slot = r.critical_slot, moot = r.moot, superseded_by = r.superseded_by,
       superseded_at = r.superseded_at, put_away = r.put_away, consolidated_into = r.consolidated_into, valid_to = r.valid_to,
       ended_at = r.ended_at, expires_at = r.expires_at, source = r.source, metadata = r.metadata, private = r.private,
       stands_at = r.stands_at, stands_recorded_at = r.stands_recorded_at, stands_event_id = r.stands_event_id,
       stands_ordinal = r.stands_ordinal
  FROM jsonb_to_recordset(%(rows)s::jsonb) s(memory_id uuid, columns jsonb)
  JOIN engram.agent_memory b ON b.tenant_id = %(tenant_id)s AND b.memory_id = s.memory_id
 CROSS JOIN LATERAL jsonb_populate_record(b, s.columns) r
 WHERE m.tenant_id = %(tenant_id)s AND m.memory_id = s.memory_id
