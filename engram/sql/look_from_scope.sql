-- The scopes a read may see, and what a search must know of them, at once: `list_visible_scopes` and `look_at_question` in one.
SELECT CASE WHEN coalesce(q.place, 1) = 1 THEN v.scopes END AS scopes, q.*, (SELECT engram.model_thresholds(%(tenant_id)s)) AS thresholds
  FROM (SELECT coalesce(array_agg(s.scope_id), '{}') AS ids,
               coalesce(jsonb_agg(jsonb_build_array(s.scope_id, s.namespace, s.agent_id, s.user_id, s.shelf_of)), '[]') AS scopes
          FROM engram.visible_scopes(%(tenant_id)s, %(namespaces)s::text[], %(agents)s::text[], %(user_id)s, %(all_users)s,
                                     %(shelves)s) s) v
 CROSS JOIN LATERAL engram.look_with_tail(%(tenant_id)s, v.ids, %(words)s::text[], %(config)s, %(most)s,
                                          %(derivers)s::text[], %(versions)s::integer[], %(tail)s) q
