-- One hop of the graph channel: the heaviest relations of each memory the last hop came to, of those whose other end is in sight
-- and may be returned or has an heir. Structural relations always count, loose ones only towards what the question means, or says, too.
links_/*to*/ AS MATERIALIZED (
  SELECT h.memory_id, h.closeness, h.seed_id, r.node, r.weight,
         r.relation_type = ANY(%(structural)s) OR (r.node IN (SELECT t.memory_id FROM met t WHERE t.worded)) IS TRUE AS meant
    FROM (SELECT h.memory_id, h.closeness, h.seed_id FROM hop_/*from*/ h WHERE h.leads ORDER BY h.closeness DESC, h.memory_id LIMIT %(considered)s) h
   CROSS JOIN LATERAL (
         SELECT r.node, r.weight, r.relation_type
           FROM (/*relations*/) r
          WHERE r.relation_type <> ALL(%(unfollowed)s) AND r.node <> h.seed_id
          ORDER BY r.weight DESC, r.node
          LIMIT %(considered)s) r),
near_/*to*/ AS MATERIALIZED (
  /*near*/),
/*around*/hop_/*to*/ AS MATERIALIZED (
  SELECT DISTINCT ON (n.memory_id) n.memory_id, n.lineage_id, n.status, n.leads, n.seed_id, n.closeness
    FROM (SELECT m.memory_id, m.lineage_id, m.status, (/*seed*/) IS TRUE AS leads, l.seed_id, l.closeness * l.weight * /*share*/ AS closeness,
                 row_number() OVER (PARTITION BY l.memory_id ORDER BY l.weight DESC, l.node) AS place
            FROM links_/*to*/ l
            /*end*/
           WHERE (l.meant OR (l.node IN (SELECT n.memory_id FROM near_/*to*/ n)) IS TRUE) AND (/*leading*/)) n
   WHERE n.place <= %(breadth)s
   ORDER BY n.memory_id, n.closeness DESC, n.seed_id)
