-- Events by the words of a question, those of the index and those that are read themselves, by the formula of the memories'
-- words: each counts by its rarity among events, and by how much of the event it is. `near` are events a vector has found.
WITH refused AS MATERIALIZED (
  SELECT coalesce(array_agg(u.lexeme), '{}') AS lexemes
    FROM unnest(%(without)s::text[]) w(word)
   CROSS JOIN LATERAL unnest(to_tsvector(%(config)s::regconfig, w.word)) u),
asked AS MATERIALIZED (
  SELECT DISTINCT u.lexeme AS label, false AS phrase,
         '''' || replace(replace(u.lexeme, '\', '\\'), '''', '''''') || '''' AS term, ARRAY[u.lexeme] AS held
    FROM unnest(%(words)s::text[]) w(word)
   CROSS JOIN LATERAL unnest(to_tsvector(%(config)s::regconfig, w.word)) u
   WHERE u.lexeme <> ALL ((SELECT f.lexemes FROM refused f)::text[])
   UNION ALL
  SELECT DISTINCT '"' || p.phrase || '"', true, q.query::text, tsvector_to_array(to_tsvector(%(config)s::regconfig, p.phrase))
    FROM unnest(%(phrases)s::text[]) p(phrase)
   CROSS JOIN LATERAL phraseto_tsquery(%(config)s::regconfig, p.phrase) q(query)
   WHERE numnode(q.query) > 1),
scanned AS MATERIALIZED (
  SELECT t.stream_id, t.position, t.words, (SELECT coalesce(sum(cardinality(u.positions)), 0) FROM unnest(t.words) u)::integer AS own_terms
    FROM (SELECT g.stream_id, g.position, to_tsvector(%(config)s::regconfig, g.said) AS words
            FROM unnest(%(stream_ids)s::uuid[], %(positions)s::bigint[], %(texts)s::text[]) g(stream_id, position, said)
          OFFSET 0) t),
held AS (
  SELECT (SELECT count(*) FROM scanned)
         + (SELECT coalesce(sum(r.position), 0) FROM engram.event_readings r
             WHERE r.tenant_id = %(tenant_id)s AND r.scope_id = ANY(%(scope_ids)s)) AS size),
counted AS MATERIALIZED (
  SELECT a.label, a.term, (SELECT count(*) FROM scanned s WHERE s.words @@ a.term::tsquery)
         + coalesce((SELECT engram.event_frequency(%(scope_ids)s,
                       string_agg(engram.scoped_lexeme(i.scope_id, a.label) || %(weight)s::text, ' | ')::tsquery, %(counted)s)
                       FROM unnest(%(scope_ids)s::bigint[]) i(scope_id)), 0) AS df
    FROM asked a
   WHERE NOT a.phrase),
weighed AS MATERIALIZED (
  SELECT a.label, a.term, a.phrase, ln(1 + (h.size - d.df + 0.5) / (d.df + 0.5))::float8 AS idf
    FROM asked a
   CROSS JOIN held h
   CROSS JOIN LATERAL (
         SELECT least(h.size, coalesce(min(c.df), 0)) AS df FROM counted c WHERE c.label = ANY(a.held)) d),
terms AS MATERIALIZED (   -- scope 0 stands for what is in no index, whose words carry no scope
  SELECT w.label, w.phrase, w.idf, 0::bigint AS scope_id, w.term::tsquery AS term FROM weighed w
   UNION ALL
  SELECT w.label, w.phrase, w.idf, i.scope_id, replace(' ' || w.term, ' ''', ' ''' || i.scope_id || ':')::tsquery
    FROM weighed w CROSS JOIN unnest(%(scope_ids)s::bigint[]) i(scope_id)),
rare AS (
  SELECT c.label, c.df, row_number() OVER o AS place, sum(c.df) OVER o AS brought
    FROM counted c WHERE c.df > 0 WINDOW o AS (ORDER BY c.df, c.label ROWS UNBOUNDED PRECEDING)),
matched AS MATERIALIZED (
  SELECT m.stream_id, m.position, m.scope_id, m.own_terms, m.lexemes
    FROM (SELECT string_agg(engram.scoped_lexeme(i.scope_id, r.label) || %(weight)s::text, ' | ')::tsquery AS query
            FROM rare r CROSS JOIN unnest(%(scope_ids)s::bigint[]) i(scope_id)
           WHERE r.place <= %(least)s OR r.brought <= %(budget)s) q
   CROSS JOIN LATERAL engram.event_matches(%(scope_ids)s, q.query, %(since)s::timestamptz, %(until)s::timestamptz, %(most)s) m
   WHERE q.query IS NOT NULL   -- a job may have indexed it since it was read
     AND NOT EXISTS (SELECT FROM scanned s WHERE s.stream_id = m.stream_id AND s.position = m.position)),
near AS (
  SELECT n.stream_id, n.position, n.cosine
    FROM unnest(%(near_streams)s::uuid[], %(near_positions)s::bigint[], %(cosines)s::float8[]) n(stream_id, position, cosine)),
found AS (
  SELECT m.* FROM matched m
   UNION ALL
  SELECT l.stream_id, l.position, l.scope_id, l.own_terms, l.lexemes
    FROM near n
    JOIN engram.event_lexemes l ON l.tenant_id = %(tenant_id)s AND l.stream_id = n.stream_id AND l.position = n.position
   WHERE l.scope_id = ANY(%(scope_ids)s)
     AND NOT EXISTS (SELECT FROM matched m WHERE m.stream_id = n.stream_id AND m.position = n.position)
     AND NOT EXISTS (SELECT FROM scanned s WHERE s.stream_id = n.stream_id AND s.position = n.position)
   UNION ALL
  SELECT s.stream_id, s.position, 0, s.own_terms, s.words FROM scanned s),
allowed AS MATERIALIZED (   -- the concatenation unpacks each vector once, and not once a word
  SELECT f.stream_id, f.position, f.scope_id, greatest(1, f.own_terms / 30.0::float8) AS length, f.lexemes || ''::tsvector AS lexemes
    FROM found f
    JOIN engram.agent_events e ON e.tenant_id = %(tenant_id)s AND e.stream_id = f.stream_id AND e.position = f.position
   WHERE /*allowed*/
     AND (%(without)s::text[] = '{}' OR NOT EXISTS (
          SELECT FROM refused r CROSS JOIN unnest(r.lexemes) x(lexeme)
           WHERE CASE WHEN f.scope_id = 0 THEN x.lexeme ELSE f.scope_id || ':' || x.lexeme END = ANY(tsvector_to_array(f.lexemes))))),
scored AS (
  SELECT a.stream_id, a.position, array_agg(t.label ORDER BY t.idf DESC, t.label) AS matched,
         sum(t.idf * least(1, 1.329 * r.rank / (r.rank + 0.2 * a.length))) / nullif((SELECT sum(w.idf) FROM weighed w), 0) AS coverage
    FROM allowed a
    JOIN terms t ON t.scope_id = a.scope_id
   CROSS JOIN LATERAL (
         SELECT CASE WHEN NOT t.phrase THEN ts_rank('{1,1,1,1}', a.lexemes, t.term)::float8
                     WHEN a.lexemes @@ t.term THEN 0.6079 ELSE 0 END AS rank OFFSET 0) r
   WHERE r.rank > 0
   GROUP BY a.stream_id, a.position),
best AS (
  SELECT s.stream_id, s.position, s.coverage, s.matched FROM scored s
   ORDER BY s.coverage DESC, s.stream_id, s.position LIMIT %(fetch)s),
together AS (   -- what a vector found may hold a word to do without
  SELECT stream_id, position, b.coverage, b.matched, n.cosine
    FROM best b
    FULL JOIN (SELECT n.* FROM near n
                WHERE NOT EXISTS (SELECT FROM found f WHERE f.stream_id = n.stream_id AND f.position = n.position)
                   OR EXISTS (SELECT FROM allowed a WHERE a.stream_id = n.stream_id AND a.position = n.position)) n
   USING (stream_id, position))
SELECT e.event_id::text, e.role, e.occurred_at, e.recorded_at, coalesce(g.coverage, s.coverage, 0)::float8 AS coverage,
       coalesce(g.matched, s.matched, '{}') AS matched, coalesce(g.cosine, v.cosine) AS cosine,
       (SELECT count(*) FROM matched) >= %(most)s AS cut
  FROM together g
  JOIN engram.agent_events e ON e.tenant_id = %(tenant_id)s AND e.stream_id = g.stream_id AND e.position = g.position
  LEFT JOIN scored s ON g.coverage IS NULL AND s.stream_id = g.stream_id AND s.position = g.position
  LEFT JOIN LATERAL (
       SELECT max(1 - (x.embedding <=> %(vector)s::halfvec)) AS cosine
         FROM engram.agent_memory m
         JOIN engram.memory_embeddings x
           ON x.tenant_id = m.tenant_id AND x.scope_id = m.scope_id AND x.model_id = %(model_id)s AND x.memory_id = m.memory_id
        WHERE g.cosine IS NULL AND m.tenant_id = %(tenant_id)s AND m.scope_id = ANY(%(scope_ids)s) AND m.event_id = e.event_id) v ON true
