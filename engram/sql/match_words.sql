-- The words of a question, and the memories that hold the rarest of them.
asked AS MATERIALIZED (
  SELECT w.scope_id, w.label, w.term::tsquery AS term, w.idf, w.phrase
    FROM unnest(%(term_scopes)s::bigint[], %(labels)s::text[], %(terms)s::text[], %(idfs)s::float8[], %(phrases)s::boolean[])
         w(scope_id, label, term, idf, phrase)),
matched AS MATERIALIZED (
  SELECT e.memory_id, e.scope_id, e.own_terms, e.lexemes
    FROM engram.lexeme_matches(%(scope_ids)s, %(candidates)s::tsquery, %(most)s) e
   WHERE %(candidates)s::text IS NOT NULL)
