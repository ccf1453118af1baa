-- How much of a question's words each of some memories holds: each word counts by its rarity, and by how much of the memory it
-- is; a word that a short memory says once counts whole. The concatenation unpacks each vector once, and not once a word.
SELECT c.memory_id, array_agg(a.label ORDER BY a.idf DESC, a.label) AS matched,
       sum(a.idf * least(1, 1.329 * r.rank / (r.rank + 0.2 * c.length))) / %(total)s::float8 AS coverage
  FROM (SELECT f.memory_id, f.scope_id, greatest(1, f.own_terms / 30.0::float8) AS length, f.lexemes || ''::tsvector AS lexemes
          FROM /*rows*/ f
         WHERE %(without)s::text = '' OR NOT f.lexemes @@ nullif(%(without)s::text, '')::tsquery
        OFFSET 0) c
  JOIN asked a ON a.scope_id = c.scope_id AND c.lexemes @@ a.term
 CROSS JOIN LATERAL (
       SELECT CASE WHEN a.phrase THEN 0.6079 ELSE ts_rank('{0.1,0.15,0.3,1}', c.lexemes, a.term)::float8 END AS rank OFFSET 0) r
 GROUP BY c.memory_id
