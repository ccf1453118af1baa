-- Write the words of events, and how far their streams have been read. An event without words moves the reading on as well.
WITH given AS (
  SELECT g.stream_id, g.position, g.occurred_at, to_tsvector(%(config)s::regconfig, g.said) AS words, g.house
    FROM unnest(%(stream_ids)s::uuid[], %(positions)s::bigint[], %(occurred)s::timestamptz[], %(texts)s::text[], %(house)s::boolean[])
         g(stream_id, position, occurred_at, said, house)),
written AS (
  INSERT INTO engram.event_lexemes (tenant_id, scope_id, stream_id, position, occurred_at, lexemes, own_terms)
  SELECT %(tenant_id)s, %(scope_id)s, g.stream_id, g.position, g.occurred_at,
         engram.scoped_lexemes(%(scope_id)s, setweight(g.words, CASE WHEN g.house THEN 'D' ELSE 'A' END::"char")),
         (SELECT coalesce(sum(cardinality(u.positions)), 0) FROM unnest(g.words) u)
    FROM given g
   WHERE g.words <> ''::tsvector
   ORDER BY g.stream_id, g.position
      ON CONFLICT (tenant_id, stream_id, position) DO NOTHING)
INSERT INTO engram.event_readings AS r (tenant_id, scope_id, stream_id, position)
SELECT %(tenant_id)s, %(scope_id)s, g.stream_id, max(g.position) FROM given g GROUP BY g.stream_id ORDER BY g.stream_id
    ON CONFLICT (tenant_id, scope_id, stream_id) DO UPDATE SET position = greatest(r.position, excluded.position)
