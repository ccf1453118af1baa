-- Say of the scopes of some memories that their trees are no more, before they go: whoever makes one at this moment does not write it.
INSERT INTO engram.memory_topic_trees AS t (tenant_id, scope_id)
SELECT DISTINCT m.tenant_id, m.scope_id FROM engram.agent_memory m
 WHERE m.tenant_id = %(tenant_id)s AND m.memory_id = ANY(%(memory_ids)s::uuid[]) AND m.scope_id > 0
 ORDER BY m.scope_id
    ON CONFLICT (tenant_id, scope_id) DO UPDATE
    SET generation = t.generation + 1, model_id = NULL, rows = 0, score = 0, changes = 0
RETURNING t.scope_id
