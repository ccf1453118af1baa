-- The memory of another scope than the one that is derived again, by its id or by how that ends.
SELECT coalesce(
  (SELECT m.memory_id FROM engram.agent_memory m
    WHERE m.tenant_id = %(tenant_id)s AND m.memory_id = %(memory_id)s::uuid AND m.scope_id > 0 AND m.scope_id <> %(scope_id)s),
  (SELECT m.memory_id FROM engram.agent_memory m
    WHERE m.tenant_id = %(tenant_id)s AND right(m.memory_id::text, 8) = %(ending)s AND m.scope_id > 0 AND m.scope_id <> %(scope_id)s
    ORDER BY m.memory_id LIMIT 1))::text AS memory_id
