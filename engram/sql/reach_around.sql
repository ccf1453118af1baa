-- What a hop of the graph of the past comes to, as it stood then, beside what is at hand.
around_/*to*/ AS MATERIALIZED (
  SELECT m.*
    FROM engram.memories_around(%(scope_ids)s::bigint[], %(as_of)s::timestamptz, %(known_at)s::timestamptz, ARRAY(
           SELECT r.node
             FROM (SELECT h.memory_id, h.seed_id FROM hop_/*from*/ h WHERE h.leads ORDER BY h.closeness DESC, h.memory_id LIMIT %(considered)s) h
            CROSS JOIN LATERAL (
                  SELECT r.node
                    FROM (/*relations*/) r
                   WHERE r.relation_type <> ALL(%(unfollowed)s) AND r.node <> h.seed_id
                   ORDER BY r.weight DESC, r.node
                   LIMIT %(considered)s) r
            EXCEPT SELECT m.memory_id FROM sight_/*from*/ m)) m
   WHERE /*visible*/),
sight_/*to*/ AS NOT MATERIALIZED (
  SELECT m.* FROM sight_/*from*/ m UNION ALL SELECT m.* FROM around_/*to*/ m),
