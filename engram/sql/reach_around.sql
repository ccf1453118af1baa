-- What a hop of the graph of the past comes to, as it stood then, beside what is at hand.
around_/*to*/ AS MATERIALIZED (
  SELECT m.*
    FROM engram.memories_around(%(scope_ids)s::bigint[], %(as_of)s::timestamptz, %(known_at)s::timestamptz, ARRAY(
           SELECT l.node
             FROM links_/*to*/ l
            WHERE l.meant OR (l.node IN (SELECT n.memory_id FROM near_/*to*/ n)) IS TRUE
            EXCEPT SELECT m.memory_id FROM sight_/*from*/ m)) m
   WHERE /*visible*/),
sight_/*to*/ AS NOT MATERIALIZED (
  SELECT m.* FROM sight_/*from*/ m UNION ALL SELECT m.* FROM around_/*to*/ m),
