-- How many memories of some scopes match each text query, whose lexemes carry their scopes.
SELECT q.label, engram.lexeme_frequency(%(scope_ids)s::bigint[], q.query::tsquery, %(most)s) AS df
  FROM unnest(%(labels)s::text[], %(queries)s::text[]) q(label, query)
