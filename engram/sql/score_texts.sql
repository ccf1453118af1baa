-- The coverage of a question by texts that are in no index yet, by the same formula as the index's; and whether one holds a word
-- that is to be done without.
SELECT t.place - 1 AS place, v.refused, array_agg(a.label ORDER BY a.idf DESC, a.label) FILTER (WHERE r.rank > 0) AS matched,
       sum(a.idf * least(1, 1.329 * r.rank / (r.rank + 0.2 * v.length))) FILTER (WHERE r.rank > 0) / %(total)s::float8 AS coverage
  FROM unnest(%(texts)s::text[]) WITH ORDINALITY t(said, place)
 CROSS JOIN LATERAL (SELECT to_tsvector(%(config)s::regconfig, left(t.said, 100000)) AS words OFFSET 0) d
 CROSS JOIN LATERAL (   -- most texts hold none of the words: they are weighed no further
       SELECT setweight(d.words, 'A') AS lexemes, coalesce(d.words @@ nullif(%(without)s::text, '')::tsquery, false) AS refused,
              greatest(1, (SELECT coalesce(sum(cardinality(u.positions)), 0) FROM unnest(d.words) u) / 30.0::float8) AS length
        WHERE d.words @@ %(held)s::tsquery OFFSET 0) v
  LEFT JOIN unnest(%(labels)s::text[], %(terms)s::text[], %(idfs)s::float8[], %(phrases)s::boolean[]) a(label, term, idf, phrase)
    ON true
  LEFT JOIN LATERAL (
       SELECT CASE WHEN NOT a.phrase THEN ts_rank('{0.1,0.15,0.3,1}', v.lexemes, a.term::tsquery)::float8
                   WHEN v.lexemes @@ a.term::tsquery THEN 0.6079 ELSE 0 END AS rank OFFSET 0) r ON true
 WHERE r.rank > 0 OR v.refused
 GROUP BY t.place, v.refused
 ORDER BY t.place
