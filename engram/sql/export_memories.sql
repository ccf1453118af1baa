-- The memories of an export with their statements and counters; private ones of others are left out, and what refers outside.
SELECT m.scope_id,
       (SELECT count(*) FROM engram.memory_sources q
         WHERE q.tenant_id = m.tenant_id AND q.memory_id = m.memory_id) AS statements,
       json_build_object('memory_id', m.memory_id, 'fact', m.fact, 'main_content', m.main_content, 'memory_type', m.memory_type,
         'category', m.category, 'tags', m.tags, 'importance', m.importance, 'confidence', m.confidence, 'trust', m.trust,
         'layer', m.layer, 'status', m.status, 'status_reason', m.status_reason, 'critical_slot', m.critical_slot,
         'conflict_key', m.conflict_key, 'topic_key', m.topic_key, 'subject', m.subject, 'attribute', m.attribute, 'value', m.value,
         'negates', m.negates, 'moot', m.moot, 'lineage_id', m.lineage_id, 'revision', m.revision,
         'superseded_by', h.memory_id, 'superseded_at', m.superseded_at, 'put_away', m.put_away,
         'consolidated_into', m.consolidated_into, 'valid_from', m.valid_from, 'valid_from_stated', m.valid_from_stated,
         'valid_to', m.valid_to, 'ended_at', m.ended_at, 'recorded_at', m.recorded_at, 'expires_at', m.expires_at) AS first,
       json_build_object('surprise', m.surprise, 'source', m.source, 'session_id', m.session_id, 'task_run_id', m.task_run_id,
         'metadata', m.metadata, 'private', m.private, 'deriver', m.deriver, 'deriver_version', m.deriver_version,
         'ordinal', m.ordinal, 'policy', m.policy, 'policy_version', m.policy_version, 'rule', m.rule, 'event_id', m.event_id,
         'actor', m.actor, 'stands_at', m.stands_at, 'stands_recorded_at', m.stands_recorded_at,
         'stands_event_id', m.stands_event_id, 'stands_ordinal', m.stands_ordinal,
         'born_epoch', m.born_epoch, 'layer_epoch', m.layer_epoch, 'marks', m.marks,
         'activity', json_build_object('access_count', coalesce(a.access_count, 0), 'last_accessed_at', a.last_accessed_at,
           'accessed_epoch', a.accessed_epoch,
           'repetition_count', coalesce(a.repetition_count, 0), 'positive', coalesce(a.positive, 0),
           'negative', coalesce(a.negative, 0)),
         'sources', (SELECT coalesce(json_agg(json_build_object('event_id', s.event_id, 'ordinal', s.ordinal,
                              'char_start', s.char_start, 'char_end', s.char_end, 'quote_hash', encode(s.quote_hash, 'hex'),
                              'verified', s.verified, 'valid_from', s.valid_from, 'holds_at', s.holds_at,
                              'recorded_at', s.recorded_at, 'deriver', s.deriver, 'deriver_version', s.deriver_version,
                              'trust', s.trust, 'model', s.model, 'prompt_hash', s.prompt_hash)
                              ORDER BY s.recorded_at, s.event_id, s.ordinal), '[]')
                       FROM engram.memory_sources s
                       JOIN engram.agent_events e ON e.tenant_id = s.tenant_id AND e.event_id = s.event_id
                      WHERE s.tenant_id = m.tenant_id AND s.memory_id = m.memory_id
                        AND e.scope_id = ANY(%(scope_ids)s))) AS second
  FROM engram.agent_memory m
  LEFT JOIN engram.memory_activity a ON a.tenant_id = m.tenant_id AND a.memory_id = m.memory_id
  LEFT JOIN engram.agent_memory h
    ON h.tenant_id = m.tenant_id AND h.memory_id = m.superseded_by AND h.scope_id = ANY(%(scope_ids)s)
   AND (NOT h.private OR h.scope_id = ANY(%(own_ids)s))
 WHERE m.tenant_id = %(tenant_id)s AND m.scope_id = ANY(%(scope_ids)s) AND (NOT m.private OR m.scope_id = ANY(%(own_ids)s))
 ORDER BY m.memory_id
