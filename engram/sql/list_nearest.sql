-- The rows of a scope nearest to each of some vectors, exactly: every vector of the scope is compared.
SELECT w.place, near.memory_id::text, near.cosine
  FROM unnest(%(vectors)s::text[]) WITH ORDINALITY AS w (vector, place)
 CROSS JOIN LATERAL (
   SELECT e.memory_id, 1 - (e.embedding <=> w.vector::halfvec) AS cosine
     FROM engram.memory_embeddings e
    WHERE e.tenant_id = %(tenant_id)s AND e.scope_id = %(scope_id)s AND e.model_id = %(model_id)s
    ORDER BY e.embedding <=> w.vector::halfvec, e.memory_id
    LIMIT %(most)s) AS near
 ORDER BY w.place, near.cosine DESC, near.memory_id
