-- Memories by the words of a question: each word counts by its rarity, and by how much of the memory it is; a word that a short
-- memory says once counts whole. The candidates are those that hold the rarest words, and those another channel has found.
WITH asked AS MATERIALIZED (
  SELECT w.scope_id, w.label, w.term::tsquery AS term, w.idf, w.phrase
    FROM unnest(%(term_scopes)s::bigint[], %(labels)s::text[], %(terms)s::text[], %(idfs)s::float8[], %(phrases)s::boolean[])
         w(scope_id, label, term, idf, phrase)),
matched AS MATERIALIZED (
  SELECT c.memory_id, c.scope_id, c.own_terms, c.lexemes
    FROM engram.lexeme_matches(%(scope_ids)s, %(candidates)s::tsquery, %(most)s) c
   WHERE true /*among*/),
found AS (
  SELECT m.memory_id, m.scope_id, m.own_terms, m.lexemes FROM matched m
   UNION ALL
  SELECT l.memory_id, l.scope_id, l.own_terms, l.lexemes
    FROM engram.memory_lexemes l
   WHERE l.tenant_id = %(tenant_id)s AND l.scope_id = ANY(%(scope_ids)s) AND l.memory_id = ANY(%(also)s::uuid[])
     AND l.memory_id NOT IN (SELECT m.memory_id FROM matched m)),
-- The concatenation unpacks each vector once, and not once a word.
candidates AS MATERIALIZED (
  SELECT f.memory_id, f.scope_id, greatest(1, f.own_terms / 30.0::float8) AS length, f.lexemes || ''::tsvector AS lexemes
    FROM found f
   WHERE %(without)s::text = '' OR NOT f.lexemes @@ nullif(%(without)s::text, '')::tsquery),
scored AS (
  SELECT c.memory_id, array_agg(a.label ORDER BY a.idf DESC, a.label) AS matched,
         sum(a.idf * least(1, 1.329 * r.rank / (r.rank + 0.2 * c.length))) / %(total)s::float8 AS coverage
    FROM candidates c
    JOIN asked a ON a.scope_id = c.scope_id
   CROSS JOIN LATERAL (
         SELECT CASE WHEN NOT a.phrase THEN ts_rank('{0.1,0.15,0.3,1}', c.lexemes, a.term)::float8
                     WHEN c.lexemes @@ a.term THEN 0.6079 ELSE 0 END AS rank OFFSET 0) r
   WHERE r.rank > 0
   GROUP BY c.memory_id),
ranked AS (
  SELECT s.memory_id, s.coverage, s.matched, row_number() OVER (ORDER BY s.coverage DESC, s.memory_id) AS place
    FROM scored s)
SELECT k.memory_id::text, k.coverage, k.matched, k.place
  FROM ranked k
 WHERE k.place <= %(limit)s OR k.memory_id = ANY(%(also)s::uuid[])
 ORDER BY k.place
