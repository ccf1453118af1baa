-- The scopes of an export in one order for every database: by namespace, agent and user, shelves after the scopes they belong to.
SELECT s.scope_id, s.shelf_of,
       json_build_object('namespace', s.namespace, 'agent_id', s.agent_id, 'user_id', s.user_id, 'epoch', s.epoch,
                         'created_at', s.created_at) AS line
  FROM engram.memory_scopes s
 WHERE s.tenant_id = %(tenant_id)s AND s.scope_id = ANY(%(scope_ids)s)
 ORDER BY s.shelf_of IS NOT NULL, s.namespace COLLATE "C", s.agent_id COLLATE "C", s.user_id COLLATE "C" NULLS FIRST
