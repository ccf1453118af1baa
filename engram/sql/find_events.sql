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
  SELECT g.stream_id, g.position, to_tsvector(%(config)s::regconfig, g.said) AS words
    FROM unnest(%(stream_ids)s::uuid[], %(positions)s::bigint[], %(texts)s::text[]) g(stream_id, position, said)),
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
placed AS MATERIALIZED (   -- of one session or run: few enough to be compared without the index
  SELECT e.stream_id, e.position
    FROM engram.agent_events e
   WHERE (%(session_id)s::text IS NOT NULL OR %(task_run_id)s::uuid IS NOT NULL) AND /*allowed*/
   ORDER BY e.recorded_at DESC
   LIMIT %(most)s),
matched AS MATERIALIZED (
  SELECT m.stream_id, m.position, m.scope_id, m.own_terms, m.lexemes
    FROM (SELECT string_agg(engram.scoped_lexeme(i.scope_id, r.label) || %(weight)s::text, ' | ')::tsquery AS query
            FROM rare r CROSS JOIN unnest(%(scope_ids)s::bigint[]) i(scope_id)
           WHERE %(session_id)s::text IS NULL AND %(task_run_id)s::uuid IS NULL
             AND (r.place <= %(least)s OR r.brought <= %(budget)s)) q
   CROSS JOIN LATERAL engram.event_matches(%(scope_ids)s, q.query, %(since)s::timestamptz, %(until)s::timestamptz, %(most)s) m
   WHERE q.query IS NOT NULL
   UNION ALL
  SELECT l.stream_id, l.position, l.scope_id, l.own_terms, l.lexemes
    FROM placed p
   CROSS JOIN LATERAL (
         SELECT x.stream_id, x.position, x.scope_id, x.own_terms, x.lexemes FROM engram.event_lexemes x
          WHERE x.tenant_id = %(tenant_id)s AND x.stream_id = p.stream_id AND x.position = p.position LIMIT 1) l),
near AS MATERIALIZED (
  SELECT n.stream_id, n.position, n.cosine
    FROM unnest(%(near_streams)s::uuid[], %(near_positions)s::bigint[], %(cosines)s::float8[]) n(stream_id, position, cosine)),
found AS MATERIALIZED (
  SELECT m.stream_id, m.position, m.scope_id, m.own_terms, m.lexemes FROM matched m   -- a job may have indexed one since it was read
   WHERE NOT EXISTS (SELECT FROM scanned s WHERE s.stream_id = m.stream_id AND s.position = m.position)
   UNION ALL
  SELECT l.stream_id, l.position, l.scope_id, l.own_terms, l.lexemes
    FROM near n
   CROSS JOIN LATERAL (
         SELECT x.stream_id, x.position, x.scope_id, x.own_terms, x.lexemes FROM engram.event_lexemes x
          WHERE x.tenant_id = %(tenant_id)s AND x.stream_id = n.stream_id AND x.position = n.position LIMIT 1) l
   WHERE NOT EXISTS (SELECT FROM matched m WHERE m.stream_id = n.stream_id AND m.position = n.position)
     AND NOT EXISTS (SELECT FROM scanned s WHERE s.stream_id = n.stream_id AND s.position = n.position)
   UNION ALL
  SELECT s.stream_id, s.position, 0, (SELECT coalesce(sum(cardinality(u.positions)), 0) FROM unnest(s.words) u)::integer, s.words
    FROM scanned s
   WHERE s.words @@ (SELECT string_agg(c.term, ' | ')::tsquery FROM counted c)
      OR EXISTS (SELECT FROM near n WHERE n.stream_id = s.stream_id AND n.position = s.position)),
-- The concatenation unpacks each vector once, and not once a word; each event is asked for by its key alone, since a table that
-- has no statistics would be read whole.
allowed AS MATERIALIZED (
  SELECT f.stream_id, f.position, f.scope_id, greatest(1, f.own_terms / 30.0::float8) AS length, f.lexemes || ''::tsvector AS lexemes
    FROM found f
   CROSS JOIN LATERAL (
         SELECT x.tenant_id, x.scope_id, x.event_id, x.event_type, x.role, x.session_id, x.task_run_id, x.occurred_at, x.recorded_at
           FROM engram.agent_events x
          WHERE x.tenant_id = %(tenant_id)s AND x.stream_id = f.stream_id AND x.position = f.position LIMIT 1) e
   WHERE /*allowed*/
     AND (%(without)s::text[] = '{}' OR NOT EXISTS (
          SELECT FROM refused r CROSS JOIN unnest(r.lexemes) x(lexeme)
           WHERE CASE WHEN f.scope_id = 0 THEN x.lexeme ELSE f.scope_id || ':' || x.lexeme END = ANY(tsvector_to_array(f.lexemes))))),
scored AS MATERIALIZED (
  SELECT a.stream_id, a.position, array_agg(t.label ORDER BY t.idf DESC, t.label) AS matched,
         sum(t.idf * least(1, 1.329 * r.rank / (r.rank + 0.2 * a.length))) / nullif((SELECT sum(w.idf) FROM weighed w), 0) AS coverage
    FROM allowed a
    JOIN terms t ON t.scope_id = a.scope_id
   CROSS JOIN LATERAL (
         SELECT CASE WHEN NOT t.phrase THEN ts_rank('{1,1,1,1}', a.lexemes, t.term)::float8
                     WHEN a.lexemes @@ t.term THEN 0.6079 ELSE 0 END AS rank OFFSET 0) r
   WHERE r.rank > 0
   GROUP BY a.stream_id, a.position),
ranked AS (
  SELECT s.stream_id, s.position, s.coverage, s.matched, row_number() OVER (ORDER BY s.coverage DESC, s.stream_id, s.position) AS place FROM scored s),
together AS MATERIALIZED (
  SELECT r.stream_id, r.position, r.coverage, r.matched, n.cosine
    FROM ranked r
    LEFT JOIN near n ON n.stream_id = r.stream_id AND n.position = r.position
   WHERE r.place <= %(fetch)s OR n.cosine IS NOT NULL
   UNION ALL   -- what a vector found without the words, unless it holds a word to do without
  SELECT n.stream_id, n.position, 0, '{}', n.cosine
    FROM near n
   WHERE NOT EXISTS (SELECT FROM scored s WHERE s.stream_id = n.stream_id AND s.position = n.position)
     AND (NOT EXISTS (SELECT FROM found f WHERE f.stream_id = n.stream_id AND f.position = n.position)
          OR EXISTS (SELECT FROM allowed a WHERE a.stream_id = n.stream_id AND a.position = n.position)))
SELECT b.cut, g.coverage::float8, g.matched, coalesce(g.cosine, v.cosine) AS cosine, e.event_id::text, e.role, e.occurred_at, e.recorded_at
  FROM (SELECT (SELECT count(*) FROM matched) >= %(most)s AS cut) b
  LEFT JOIN together g ON true
  LEFT JOIN LATERAL (
       SELECT x.event_id, x.role, x.occurred_at, x.recorded_at FROM engram.agent_events x
        WHERE x.tenant_id = %(tenant_id)s AND x.stream_id = g.stream_id AND x.position = g.position LIMIT 1) e ON true
  LEFT JOIN LATERAL (
       SELECT max(c.cosine) AS cosine
         FROM engram.agent_memory m
        CROSS JOIN LATERAL engram.vector_cosines(m.tenant_id, ARRAY[m.scope_id], %(model_id)s, %(vector)s::halfvec, ARRAY[m.memory_id]) c
        WHERE g.cosine IS NULL AND m.tenant_id = %(tenant_id)s AND m.scope_id = ANY(%(scope_ids)s) AND m.event_id = e.event_id) v ON true
