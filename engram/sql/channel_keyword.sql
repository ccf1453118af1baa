-- The keyword channel: the memories that hold the rarest words of the question, and the coverage of those other channels found.
asked AS MATERIALIZED (
  SELECT w.scope_id, w.label, w.term::tsquery AS term, w.idf, w.phrase
    FROM unnest(%(term_scopes)s::bigint[], %(labels)s::text[], %(terms)s::text[], %(idfs)s::float8[], %(phrases)s::boolean[])
         w(scope_id, label, term, idf, phrase)),
matched AS MATERIALIZED (
  SELECT e.memory_id, e.scope_id, e.own_terms, e.lexemes
    FROM engram.lexeme_matches(%(scope_ids)s, %(candidates)s::tsquery, %(most)s) e
   WHERE %(candidates)s::text IS NOT NULL),
worded AS (
  SELECT m.memory_id, m.scope_id, m.own_terms, m.lexemes FROM matched m
   UNION ALL
  SELECT l.memory_id, l.scope_id, l.own_terms, l.lexemes
    FROM (SELECT memory_id FROM beside EXCEPT SELECT memory_id FROM matched) b
   CROSS JOIN LATERAL (
         SELECT l.memory_id, l.scope_id, l.own_terms, l.lexemes
           FROM engram.memory_lexemes l
          WHERE l.tenant_id = %(tenant_id)s AND l.memory_id = b.memory_id AND (l.scope_id = ANY(%(scope_ids)s)) IS TRUE OFFSET 0) l),
scored AS MATERIALIZED (
  /*scores*/),
keyword AS MATERIALIZED (
  SELECT s.memory_id, s.coverage FROM scored s ORDER BY s.coverage DESC, s.memory_id LIMIT %(fetch)s)
