-- What a search with a filter or a period may come to. Of the nearest memories, and of those that hold a word, a few times as many as a
-- channel is to bring are looked up, and those that fit are taken. Where too few do, the whole scope is asked for what fits, and only
-- that is compared. Where most of the words are in what does not fit, all that hold any are looked up.
/*nearest*/,
/*matched*/,
sampled AS MATERIALIZED (
  SELECT m.memory_id FROM matched m LIMIT %(reach)s),
fitting AS MATERIALIZED (
  SELECT m.memory_id, f.near, f.sampled
    FROM (SELECT s.memory_id, bool_or(s.near) AS near, bool_or(NOT s.near) AS sampled
            FROM (SELECT memory_id, true AS near FROM near_reached UNION ALL SELECT memory_id, false FROM sampled) s
           GROUP BY s.memory_id) f
         /*row of f.memory_id*/
   WHERE /*leading*/),
sparse AS MATERIALIZED (
  SELECT ((SELECT count(*) FROM near_reached) >= %(reach)s AND count(*) FILTER (WHERE f.near) < %(fetch)s)
         OR ((SELECT count(*) FROM sampled) >= %(reach)s AND count(*) FILTER (WHERE f.sampled) < %(fetch)s) AS whole
    FROM fitting f),
all_fitting AS MATERIALIZED (
  SELECT m.memory_id FROM /*memories*/ AND (SELECT s.whole FROM sparse s) AND /*leading*/),
/*said*/,
worded_first AS MATERIALIZED (
  SELECT s.memory_id FROM said s WHERE NOT (SELECT p.whole FROM sparse p) ORDER BY s.coverage DESC, s.memory_id LIMIT %(reach)s),
worded_fitting AS MATERIALIZED (
  SELECT m.memory_id, CASE WHEN /*strict*/ THEN m.lineage_id END AS standing
    FROM worded_first f
         /*row of f.memory_id*/
   WHERE /*leading*/),
worded_rest AS MATERIALIZED (
  SELECT m.memory_id
    FROM (SELECT s.memory_id
            FROM said s
           WHERE NOT (SELECT p.whole FROM sparse p) AND (SELECT count(*) FROM worded_first) >= %(reach)s
             AND (SELECT count(*) <= %(fetch)s OR count(DISTINCT f.standing) < %(wanted)s FROM worded_fitting f)
          EXCEPT SELECT memory_id FROM worded_first) f
         /*row of f.memory_id*/
   WHERE /*leading*/),
eligible AS MATERIALIZED (
  SELECT memory_id FROM all_fitting UNION ALL SELECT f.memory_id FROM fitting f WHERE NOT (SELECT s.whole FROM sparse s)
   UNION ALL SELECT memory_id FROM worded_fitting UNION ALL SELECT memory_id FROM worded_rest),
