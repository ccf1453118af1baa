-- The state of some memories of a scope, and whether others share their lineage.
SELECT m.memory_id::text, m.scope_id, m.lineage_id::text, m.conflict_key, m.trust, m.fact, engram.memory_state(m) AS state,
       EXISTS (SELECT FROM engram.agent_memory o
                WHERE o.tenant_id = m.tenant_id AND o.lineage_id = m.lineage_id AND o.memory_id <> m.memory_id) AS shared
  FROM engram.agent_memory m
 WHERE m.tenant_id = %(tenant_id)s AND m.memory_id = ANY(%(memory_ids)s::uuid[])
