-- The rows of a scope nearest to each of some vectors: through its graph where it has one, else every vector of it is compared.
SELECT place, memory_id, cosine
  FROM engram.near_rows(
    p_tenant_id => %(tenant_id)s, p_scope_id => %(scope_id)s, p_model_id => %(model_id)s, p_vectors => %(vectors)s::halfvec[],
    p_most => %(most)s)
