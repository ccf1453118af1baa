-- What a search must know of its scopes, of the words of its question there, and of how far each deriver has come, at once.
SELECT q.now, q.size, q.actors, q.graphed, q.model_id, q.config, q.words, q.marks
  FROM engram.look_at_question(%(tenant_id)s, %(scope_ids)s::bigint[], %(words)s::text[], %(config)s, %(most)s,
                               %(derivers)s::text[], %(versions)s::integer[]) q
