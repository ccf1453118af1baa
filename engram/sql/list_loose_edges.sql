-- The relations between current memories of a scope, of which communities are made, the heaviest first.
SELECT r.source_id::text, r.target_id::text, r.weight
  FROM engram.memory_relations r
  JOIN engram.agent_memory m ON m.tenant_id = r.tenant_id AND m.memory_id = r.source_id
  JOIN engram.agent_memory o ON o.tenant_id = r.tenant_id AND o.memory_id = r.target_id
 WHERE r.tenant_id = %(tenant_id)s AND m.scope_id = %(scope_id)s AND o.scope_id = %(scope_id)s AND r.ended_at IS NULL
   AND r.relation_type <> ALL (%(without)s::text[])
   AND /*placed*/ AND /*other placed*/
 ORDER BY r.weight DESC, r.source_id, r.target_id, r.relation_type
 LIMIT %(limit)s
