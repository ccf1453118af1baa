-- What a search with a filter or a period may come to. A few of those that hold a word are looked up first: the larger the share of them
-- that fits, the fewer of the nearest, and of the best by words, are looked up, as many as bring twice what a channel is to bring. Where
-- too few fit, the whole scope is asked for what does, and only that is compared. Where most of the words are in what does not fit, all
-- that hold any are looked up.
/*matched*/,
sampled AS MATERIALIZED (
  SELECT m.memory_id FROM matched m LIMIT %(sample)s),
sampled_fitting AS MATERIALIZED (
  SELECT m.memory_id
    FROM sampled f
         /*row of f.memory_id*/
   WHERE /*leading*/),
reached AS MATERIALIZED (
  SELECT CASE WHEN s.met = 0 THEN %(reach)s
              ELSE least(%(reach)s, ceil(2 * %(fetch)s::numeric * (s.met + 2) / (f.fit + 1))) END::integer AS many,
         s.met >= %(sample)s AND 2 * f.fit * %(reach)s < %(fetch)s * %(sample)s AS few
    FROM (SELECT count(*) AS met FROM sampled) s CROSS JOIN (SELECT count(*) AS fit FROM sampled_fitting) f),
/*nearest*/,
near_fitting AS MATERIALIZED (
  SELECT m.memory_id
    FROM near_reached f
         /*row of f.memory_id*/
   WHERE /*leading*/),
sparse AS MATERIALIZED (
  SELECT r.few OR ((SELECT count(*) FROM near_reached) >= r.many AND (SELECT count(*) FROM near_fitting) < %(fetch)s) AS whole
    FROM reached r),
all_fitting AS MATERIALIZED (
  SELECT m.memory_id FROM /*memories*/ AND (SELECT s.whole FROM sparse s) AND /*leading*/),
/*said*/,
worded_first AS MATERIALIZED (
  SELECT s.memory_id FROM said s WHERE NOT (SELECT p.whole FROM sparse p) ORDER BY s.coverage DESC, s.memory_id
   LIMIT (SELECT r.many FROM reached r)),
worded_fitting AS MATERIALIZED (
  SELECT m.memory_id, CASE WHEN /*strict*/ THEN m.lineage_id END AS standing
    FROM worded_first f
         /*row of f.memory_id*/
   WHERE /*leading*/),
worded_rest AS MATERIALIZED (
  SELECT m.memory_id
    FROM (SELECT s.memory_id
            FROM said s
           WHERE NOT (SELECT p.whole FROM sparse p) AND (SELECT count(*) FROM worded_first) >= (SELECT r.many FROM reached r)
             AND (SELECT count(*) <= %(fetch)s OR count(DISTINCT f.standing) < %(wanted)s FROM worded_fitting f)
          EXCEPT SELECT memory_id FROM worded_first) f
         /*row of f.memory_id*/
   WHERE /*leading*/),
eligible AS MATERIALIZED (
  SELECT memory_id FROM all_fitting
   UNION ALL SELECT f.memory_id FROM near_fitting f WHERE NOT (SELECT s.whole FROM sparse s)
   UNION ALL SELECT f.memory_id FROM sampled_fitting f WHERE NOT (SELECT s.whole FROM sparse s)
   UNION ALL SELECT memory_id FROM worded_fitting UNION ALL SELECT memory_id FROM worded_rest),
