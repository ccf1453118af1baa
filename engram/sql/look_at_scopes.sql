-- What a search must know of its scopes before it ranks: how many memories, who speaks there, which model is in use, which have its graph.
SELECT clock_timestamp() AS now,
       (SELECT coalesce(sum(coalesce(t.df, (
                 SELECT count(*) FROM engram.memory_lexemes l WHERE l.tenant_id = %(tenant_id)s AND l.scope_id = s.scope_id))), 0)::bigint
          FROM unnest(%(scope_ids)s::bigint[]) s(scope_id)
          LEFT JOIN engram.memory_terms t ON t.tenant_id = %(tenant_id)s AND t.scope_id = s.scope_id AND t.term = '') AS size,
       (SELECT coalesce(array_agg(DISTINCT n.actor ORDER BY n.actor), '{}')
          FROM (SELECT a.actor FROM engram.memory_actors a
                 WHERE a.tenant_id = %(tenant_id)s AND a.scope_id = ANY(%(scope_ids)s) LIMIT 500) n) AS actors,
       (SELECT coalesce(array_agg(g.scope_id ORDER BY g.scope_id), '{}')
          FROM engram.memory_graphs g
         WHERE g.tenant_id = %(tenant_id)s AND g.scope_id = ANY(%(scope_ids)s) AND g.model_id = a.model_id) AS graphed,
       a.model_id,
       (SELECT c.config FROM engram.text_search_configs c WHERE c.tenant_id = %(tenant_id)s) AS config
  FROM (VALUES (1)) one
  LEFT JOIN engram.embedding_models a ON a.tenant_id = %(tenant_id)s AND a.state = 'active'
