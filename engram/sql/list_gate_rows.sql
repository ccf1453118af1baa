-- What the gates need to know of candidates, in their order, beside their neighbours.
SELECT exact, head, lineage_id, same_type
  FROM engram.gate_rows(
    p_tenant_id => %(tenant_id)s, p_scope_id => %(scope_id)s, p_fact_hashes => %(fact_hashes)s::bytea[],
    p_conflict_keys => %(conflict_keys)s::text[], p_memory_types => %(memory_types)s::text[],
    p_privates => %(privates)s::boolean[], p_nows => %(nows)s::timestamptz[], p_most => %(most)s)
