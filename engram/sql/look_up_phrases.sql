-- The text query of each quoted phrase of a question, its words in their order.
SELECT p.phrase, phraseto_tsquery(%(config)s::regconfig, p.phrase)::text AS query
  FROM unnest(%(phrases)s::text[]) WITH ORDINALITY p(phrase, place)
 WHERE numnode(phraseto_tsquery(%(config)s::regconfig, p.phrase)) > 0
 ORDER BY p.place
