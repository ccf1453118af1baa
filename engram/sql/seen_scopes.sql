-- Part of a statement: the scopes that a read may see, by their ids, and the one that is exactly its own, as `tenancy.seen` tells it.
SELECT coalesce(array_agg(s.scope_id), '{}') AS ids,
               max(s.scope_id) FILTER (WHERE %(single)s::boolean AND s.namespace = %(namespace)s::text
                 AND s.user_id IS NOT DISTINCT FROM %(user_id)s::text
                 AND (s.shelf_of IS NULL OR %(shelves)s::text <> 'with')) AS own
          FROM engram.visible_scopes(%(tenant_id)s, %(namespaces)s::text[], %(agents)s::text[], %(user_id)s, %(all_users)s,
                                     %(shelves)s) s
