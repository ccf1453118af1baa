-- What a search must know of its scopes, of the words of its question there, and of how far each deriver has come, at once; and the
-- newest events that wait for derivers, a row each.
SELECT q.*, (SELECT engram.model_thresholds(%(tenant_id)s)) AS thresholds
  FROM engram.look_with_tail(%(tenant_id)s, %(scope_ids)s::bigint[], %(words)s::text[], %(config)s, %(most)s,
                             %(derivers)s::text[], %(versions)s::integer[], %(tail)s) q
