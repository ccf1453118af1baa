-- What the gates need to know of one candidate, and the current facts nearest it in some scopes, scope after scope.
SELECT g.exact, g.head, g.lineage_id, g.same_type,
       (SELECT jsonb_agg(jsonb_build_object(
                 'scope_id', s.scope_id, 'memory_id', n.memory_id, 'fact', n.fact, 'cosine', n.cosine, 'conflict_key', n.conflict_key,
                 'valid_from', n.valid_from, 'valid_from_stated', n.valid_from_stated, 'ended_at', n.ended_at)
                 ORDER BY s.place, n.cosine DESC, n.memory_id)
          FROM unnest(%(scope_ids)s::bigint[]) WITH ORDINALITY s (scope_id, place)
         CROSS JOIN LATERAL engram.near_facts(
               p_tenant_id => %(tenant_id)s, p_scope_id => s.scope_id, p_model_id => %(model_id)s, p_vector => %(vector)s::halfvec,
               p_own => %(scope_id)s, p_private => %(private)s, p_now => %(now)s::timestamptz) n) AS near
  FROM engram.gate_rows(
    p_tenant_id => %(tenant_id)s, p_scope_id => %(scope_id)s, p_fact_hashes => %(fact_hashes)s::bytea[],
    p_conflict_keys => %(conflict_keys)s::text[], p_memory_types => %(memory_types)s::text[],
    p_privates => %(privates)s::boolean[], p_nows => %(nows)s::timestamptz[], p_most => %(most)s) g
