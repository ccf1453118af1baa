-- Everything the channels of a search find, whole, in one statement. What is not current is found too: a value that was
-- superseded leads to its heir. Where too little of what a channel found stands, it is asked again for what does. Memories are
-- asked for by their keys, one by one: a table without statistics would be read whole to be joined.
WITH /*world*/
pinned AS MATERIALIZED (
  SELECT m.memory_id
    FROM /*memories*/ AND m.critical_slot IS NOT NULL AND m.status = 'active' AND NOT m.moot AND /*leading*/
   ORDER BY m.recorded_at DESC, m.memory_id
   LIMIT %(most_pinned)s),
/*semantic*/,
/*temporal*/,
beside AS MATERIALIZED (
  SELECT memory_id FROM semantic UNION SELECT memory_id FROM temporal UNION SELECT memory_id FROM pinned
   UNION SELECT unnest(%(also)s::uuid[])),
/*keyword*/,
met AS MATERIALIZED (
  SELECT m.memory_id, m.lineage_id, m.status, b.near, b.worded, b.nearness, (/*strict*/) IS TRUE AS stands, (/*seed*/) IS TRUE AS leads
    FROM (SELECT s.memory_id, bool_or(s.near) AS near, bool_or(s.worded) AS worded,
                 coalesce(max(s.coverage), 0) ^ 2 + 0.5 * greatest(0, coalesce(max(s.cosine), 0)) AS nearness
            FROM (SELECT memory_id, cosine, NULL::float8 AS coverage, true AS near, false AS worded FROM semantic
                   UNION ALL SELECT memory_id, NULL, coverage, false, true FROM keyword
                   UNION ALL SELECT memory_id, NULL, NULL, false, false FROM beside) s
           GROUP BY s.memory_id) b
         /*row of b.memory_id*/),
/*graph*/,
short AS MATERIALIZED (
  SELECT (SELECT count(*) FROM semantic) >= %(fetch)s
         AND (SELECT count(DISTINCT t.lineage_id) FROM met t WHERE t.near AND t.stands) < %(wanted)s AS of_near,
         (SELECT count(*) FROM scored) > %(fetch)s
         AND (SELECT count(DISTINCT t.lineage_id) FROM met t WHERE t.worded AND t.stands) < %(wanted)s AS of_worded),
standing AS MATERIALIZED (
  SELECT m.memory_id FROM /*memories*/ AND (SELECT s.of_near OR s.of_worded FROM short s) AND /*strict*/),
more_near AS MATERIALIZED (
  /*again*/),
more_worded AS MATERIALIZED (
  SELECT s.memory_id
    FROM scored s
   WHERE (SELECT o.of_worded FROM short o) AND (s.memory_id IN (SELECT t.memory_id FROM standing t)) IS TRUE
   ORDER BY s.coverage DESC, s.memory_id
   LIMIT %(fetch)s),
chosen AS MATERIALIZED (
  SELECT t.memory_id FROM met t WHERE t.stands OR t.status = 'superseded'
   UNION SELECT memory_id FROM graph UNION SELECT memory_id FROM more_near UNION SELECT memory_id FROM more_worded),
late AS (
  SELECT l.memory_id, l.scope_id, l.own_terms, l.lexemes
    FROM ((SELECT memory_id FROM graph UNION SELECT memory_id FROM more_near) EXCEPT SELECT memory_id FROM worded) b
   CROSS JOIN LATERAL (
         SELECT l.memory_id, l.scope_id, l.own_terms, l.lexemes
           FROM engram.memory_lexemes l
          WHERE l.tenant_id = %(tenant_id)s AND l.memory_id = b.memory_id AND (l.scope_id = ANY(%(scope_ids)s)) IS TRUE OFFSET 0) l),
measured AS (
  SELECT v.memory_id, v.cosine
    FROM engram.vector_cosines(%(tenant_id)s, %(scope_ids)s::bigint[], %(model_id)s, %(vector)s::halfvec, ARRAY(
           SELECT memory_id FROM chosen EXCEPT (SELECT memory_id FROM semantic UNION ALL SELECT memory_id FROM more_near))) v),
heirs AS (
  SELECT m.memory_id
    FROM (SELECT t.lineage_id FROM met t WHERE t.status = 'superseded'
           UNION SELECT g.lineage_id FROM graph g WHERE g.status = 'superseded') p
         /*rows of p.lineage_id*/
   WHERE /*heir*/),
signals AS MATERIALIZED (
  SELECT s.memory_id, coalesce(bit_or(s.channel), 0) AS channels, max(s.cosine) AS cosine,
         max(s.coverage) AS coverage, max(s.matched) AS matched, max(s.closeness) AS closeness, max(s.seed_id::text) AS seed_id,
         max(s.nearness) AS nearness, bool_or(s.found) AS found
    FROM (SELECT memory_id, NULL::integer AS channel, NULL::float8 AS cosine, NULL::float8 AS coverage, NULL::text[] AS matched,
                 NULL::float8 AS closeness, NULL::uuid AS seed_id, NULL::float8 AS nearness, true AS found FROM chosen
           UNION ALL SELECT memory_id, NULL, NULL, NULL, NULL, NULL, NULL, NULL, false FROM heirs
           UNION ALL SELECT memory_id, 4, cosine, NULL, NULL, NULL, NULL, NULL, NULL FROM semantic
           UNION ALL SELECT memory_id, 4, cosine, NULL, NULL, NULL, NULL, NULL, NULL FROM more_near
           UNION ALL SELECT memory_id, NULL, cosine, NULL, NULL, NULL, NULL, NULL, NULL FROM measured
           UNION ALL SELECT memory_id, 2, NULL, NULL, NULL, NULL, NULL, NULL, NULL FROM keyword
           UNION ALL SELECT memory_id, 2, NULL, NULL, NULL, NULL, NULL, NULL, NULL FROM more_worded
           UNION ALL SELECT memory_id, NULL, NULL, coverage, matched, NULL, NULL, NULL, NULL FROM scored
           UNION ALL SELECT memory_id, NULL, NULL, coverage, matched, NULL, NULL, NULL, NULL FROM (/*late_scores*/) l
           UNION ALL SELECT memory_id, 1, NULL, NULL, NULL, closeness, seed_id, NULL, NULL FROM graph
           UNION ALL SELECT memory_id, 8, NULL, NULL, NULL, NULL, NULL, nearness, NULL FROM temporal) s
   GROUP BY s.memory_id
  HAVING bool_or(s.found) IS NOT NULL)
/*load*/
