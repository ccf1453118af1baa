-- The words of a question in a search with a filter or a period: what holds the rarest of them, whether it fits or not.
asked AS MATERIALIZED (
  SELECT w.scope_id, w.label, w.term::tsquery AS term, w.idf, w.phrase
    FROM unnest(%(term_scopes)s::bigint[], %(labels)s::text[], %(terms)s::text[], %(idfs)s::float8[], %(phrases)s::boolean[])
         w(scope_id, label, term, idf, phrase)),
matched AS MATERIALIZED (
  SELECT e.memory_id, e.scope_id, e.own_terms, e.lexemes
    FROM engram.lexeme_matches(%(scope_ids)s, %(candidates)s::tsquery, %(most)s) e
   WHERE %(candidates)s::text IS NOT NULL)
