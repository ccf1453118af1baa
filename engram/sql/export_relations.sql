-- The relations of an export as they stand, each with every state it was in; those with an end outside are left out.
SELECT json_build_object('source_id', r.source_id, 'target_id', r.target_id, 'relation_type', r.relation_type, 'weight', r.weight,
         'auto', r.auto, 'metadata', r.metadata, 'recorded_at', r.recorded_at, 'ended_at', r.ended_at, 'event_id', r.event_id,
         'holds_at', r.holds_at, 'changed_at', r.changed_at,
         'history', (SELECT coalesce(json_agg(json_build_object('recorded_at', c.recorded_at, 'holds_at', c.holds_at,
                              'weight', c.weight, 'auto', c.auto, 'metadata', c.metadata, 'ended', c.ended, 'event_id', c.event_id)
                              ORDER BY c.change_id), '[]')
                       FROM engram.relation_changes c
                      WHERE c.tenant_id = r.tenant_id AND c.source_id = r.source_id AND c.target_id = r.target_id
                        AND c.relation_type = r.relation_type)) AS line
  FROM engram.agent_memory m
  JOIN engram.memory_relations r ON r.tenant_id = m.tenant_id AND r.source_id = m.memory_id
  JOIN engram.agent_memory t ON t.tenant_id = r.tenant_id AND t.memory_id = r.target_id
 WHERE m.tenant_id = %(tenant_id)s AND m.scope_id = ANY(%(scope_ids)s) AND (NOT m.private OR m.scope_id = ANY(%(own_ids)s))
   AND t.scope_id = ANY(%(scope_ids)s) AND (NOT t.private OR t.scope_id = ANY(%(own_ids)s))
 ORDER BY r.source_id, r.target_id, r.relation_type COLLATE "C"
