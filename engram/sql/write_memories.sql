-- Write memories with all that belongs to them, and refusals in the history; when each memory was recorded, and its layer.
SELECT memory_id, recorded_at, layer
  FROM engram.write_memories(
    p_tenant_id => %(tenant_id)s, p_scope_id => %(scope_id)s, p_rows => %(rows)s::jsonb, p_policy => %(policy)s,
    p_policy_version => %(policy_version)s, p_reason => %(reason)s, p_run_id => %(run_id)s::uuid, p_at => %(at)s::timestamptz,
    p_model_id => %(model_id)s, p_memory_ids => %(memory_ids)s::uuid[], p_vectors => %(vectors)s::halfvec[],
    p_windowed => %(windowed)s::boolean[])
