-- The coverage of a question by texts that are in no index yet, by the same formula as the index's.
SELECT t.place - 1 AS place, sum(a.idf * r.rank / (r.rank + 0.2 * greatest(1, v.own_terms / 30.0))) / %(total)s::float8 AS coverage,
       array_agg(a.label ORDER BY a.idf DESC, a.label) AS matched
  FROM unnest(%(texts)s::text[]) WITH ORDINALITY t(said, place)
 CROSS JOIN LATERAL (
       SELECT setweight(d.words, 'A') AS lexemes, (SELECT coalesce(sum(cardinality(u.positions)), 0) FROM unnest(d.words) u) AS own_terms
         FROM (SELECT to_tsvector(%(config)s::regconfig, left(t.said, 100000)) AS words) d) v
 CROSS JOIN unnest(%(labels)s::text[], %(terms)s::text[], %(idfs)s::float8[], %(phrases)s::boolean[]) a(label, term, idf, phrase)
 CROSS JOIN LATERAL (
       SELECT CASE WHEN a.phrase THEN CASE WHEN v.lexemes @@ a.term::tsquery THEN 0.6079 ELSE 0 END
                   ELSE ts_rank('{0.1,0.15,0.3,1}', v.lexemes, a.term::tsquery) END AS rank) r
 WHERE r.rank > 0 AND (%(without)s::text = '' OR NOT v.lexemes @@ nullif(%(without)s::text, '')::tsquery)
 GROUP BY t.place
 ORDER BY t.place
