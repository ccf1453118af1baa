-- Everything the channels of a search find, whole, in one statement. What is not current is found too: a value that was
-- superseded leads to its heir. Where too little of what was found stands, the channels are asked again for what does.
WITH world AS /*kept*/ MATERIALIZED (
  SELECT m.* FROM /*source*/ WHERE /*visible*/),
/*eligible*/
pinned AS MATERIALIZED (
  SELECT m.memory_id
    FROM world m
   WHERE m.critical_slot IS NOT NULL AND m.status = 'active' AND NOT m.moot AND /*loose*/
   ORDER BY m.recorded_at DESC, m.memory_id
   LIMIT %(most_pinned)s),
/*semantic*/,
/*temporal*/,
beside AS MATERIALIZED (
  SELECT memory_id FROM semantic UNION SELECT memory_id FROM temporal UNION SELECT memory_id FROM pinned
   UNION SELECT unnest(%(also)s::uuid[])),
/*keyword*/,
/*graph*/,
first AS MATERIALIZED (
  SELECT memory_id FROM beside UNION SELECT memory_id FROM keyword UNION SELECT memory_id FROM graph),
short AS MATERIALIZED (
  SELECT ((SELECT count(*) FROM semantic) >= %(fetch)s OR (SELECT count(*) FROM scored) > %(fetch)s)
         AND (SELECT count(DISTINCT m.lineage_id) FROM first f JOIN world m ON m.memory_id = f.memory_id WHERE /*strict*/) < %(wanted)s
         AS is_so),
more AS MATERIALIZED (
  (/*again*/)
   UNION
  (SELECT s.memory_id
     FROM scored s
     JOIN world m ON m.memory_id = s.memory_id
    WHERE (SELECT is_so FROM short) AND /*strict*/
    ORDER BY s.coverage DESC, s.memory_id
    LIMIT %(whole)s)),
found AS MATERIALIZED (
  SELECT f.memory_id
    FROM (SELECT memory_id FROM first UNION SELECT memory_id FROM more) f
   WHERE %(without)s::text = '' OR NOT EXISTS (
         SELECT FROM engram.memory_lexemes l
          WHERE l.tenant_id = %(tenant_id)s AND l.memory_id = f.memory_id AND l.lexemes @@ nullif(%(without)s::text, '')::tsquery)),
late AS (
  SELECT l.*
    FROM ((SELECT memory_id FROM graph UNION SELECT memory_id FROM more) EXCEPT SELECT memory_id FROM worded) b
   CROSS JOIN LATERAL (
         SELECT l.memory_id, l.scope_id, l.own_terms, l.lexemes
           FROM engram.memory_lexemes l
          WHERE l.tenant_id = %(tenant_id)s AND l.scope_id = ANY(%(scope_ids)s) AND l.memory_id = b.memory_id OFFSET 0) l),
worth AS MATERIALIZED (
  SELECT memory_id, matched, coverage FROM scored
   UNION ALL
  SELECT memory_id, matched, coverage FROM (/*late_scores*/) s),
measured AS MATERIALIZED (
  SELECT v.*
    FROM found f
   CROSS JOIN LATERAL (
         SELECT e.memory_id, /*cosine*/ AS cosine
           FROM engram.memory_embeddings e
          WHERE e.tenant_id = %(tenant_id)s AND e.scope_id = ANY(%(scope_ids)s) AND e.model_id = %(model_id)s
            AND e.memory_id = f.memory_id OFFSET 0) v),
past AS MATERIALIZED (
  SELECT DISTINCT m.lineage_id FROM found f JOIN world m ON m.memory_id = f.memory_id WHERE m.status = 'superseded'),
heirs AS MATERIALIZED (
  SELECT m.memory_id FROM past p JOIN world m ON m.lineage_id = p.lineage_id WHERE /*heir*/),
signals AS MATERIALIZED (
  SELECT s.memory_id, max(s.cosine) AS cosine, max(s.coverage) AS coverage, max(s.matched) AS matched, max(s.closeness) AS closeness,
         max(s.seed_id::text) AS seed_id, bool_or(s.bound) AS bound, max(s.nearness) AS nearness, bool_or(s.found) AS found
    FROM (SELECT memory_id, NULL::float8 AS cosine, NULL::float8 AS coverage, NULL::text[] AS matched, NULL::float8 AS closeness,
                 NULL::uuid AS seed_id, NULL::boolean AS bound, NULL::float8 AS nearness, true AS found FROM found
           UNION ALL SELECT memory_id, NULL, NULL, NULL, NULL, NULL, NULL, NULL, false FROM heirs
           UNION ALL SELECT memory_id, cosine, NULL, NULL, NULL, NULL, NULL, NULL, NULL FROM measured
           UNION ALL SELECT memory_id, NULL, coverage, matched, NULL, NULL, NULL, NULL, NULL FROM worth
           UNION ALL SELECT memory_id, NULL, NULL, NULL, closeness, seed_id, bound, NULL, NULL FROM graph
           UNION ALL SELECT memory_id, NULL, NULL, NULL, NULL, NULL, true, nearness, NULL FROM temporal
           UNION ALL SELECT memory_id, NULL, NULL, NULL, NULL, NULL, true, NULL, NULL FROM beside
           UNION ALL SELECT memory_id, NULL, NULL, NULL, NULL, NULL, true, NULL, NULL FROM keyword
           UNION ALL SELECT memory_id, NULL, NULL, NULL, NULL, NULL, true, NULL, NULL FROM more
           UNION ALL SELECT memory_id, NULL, NULL, NULL, NULL, NULL, true, NULL, NULL FROM heirs) s
   GROUP BY s.memory_id
  HAVING bool_or(s.found) IS NOT NULL AND (bool_or(s.bound) OR max(s.cosine) >= %(loose_cosine)s))
/*load*/
