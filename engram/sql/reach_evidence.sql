-- What was distilled of the evidence among the candidates, as it stood then; and whether what was reached for brought as much as the
-- whole past would have.
,
evidence AS MATERIALIZED (
  SELECT m.*
    FROM engram.memories_around(%(scope_ids)s::bigint[], %(as_of)s::timestamptz, %(known_at)s::timestamptz, ARRAY(
           SELECT q.memory_id
             FROM signals n
             JOIN seen m ON m.memory_id = n.memory_id
            CROSS JOIN LATERAL (
                  SELECT q.memory_id
                    FROM engram.memory_sources q
                   WHERE q.tenant_id = %(tenant_id)s AND q.event_id = m.event_id AND q.ordinal < 10000 OFFSET 0) q
            WHERE m.category IN ('verbatim', 'source_chunk')
            EXCEPT SELECT m.memory_id FROM seen m)) m
   WHERE /*visible*/),
sight AS NOT MATERIALIZED (
  SELECT m.* FROM seen m UNION ALL SELECT m.* FROM evidence m),
reached AS (
  SELECT %(whole)s
         OR (((SELECT count(*) FROM near_reached) < %(reach)s
              OR ((SELECT count(*) FROM semantic) >= %(fetch)s
                  AND (NOT (SELECT o.of_near FROM short o) OR (SELECT count(*) FROM more_near) >= %(fetch)s)))
             AND ((SELECT count(*) FROM said) <= %(reach)s
                  OR ((SELECT count(*) FROM worded_then t WHERE (t.memory_id IN (SELECT c.memory_id FROM eligible c)) IS TRUE) > %(fetch)s
                      AND (NOT (SELECT o.of_worded FROM short o)
                           OR (SELECT count(*) FROM worded_then t
                                WHERE (t.memory_id IN (SELECT s.memory_id FROM standing s)) IS TRUE) >= %(fetch)s)))
             AND ((SELECT count(*) FROM named_then) < %(reach)s OR %(considered)s <= (
                   SELECT count(*) FROM world m WHERE m.subject = ANY(%(names)s::text[]) AND (/*standing*/)))
             AND (%(window_start)s::timestamptz IS NULL OR (%(known_at)s::timestamptz IS NULL AND (SELECT count(*) FROM dated_then) < %(reach)s)
                  OR %(fetch)s <= (
                   SELECT count(*)
                     FROM dated_then t
                    WHERE (t.memory_id IN (SELECT c.memory_id FROM eligible c)) IS TRUE
                      AND (%(known_at)s::timestamptz IS NULL OR t.nearness > 0.25)))) AS enough)
SELECT r.enough, c.*
  FROM reached r
  LEFT JOIN LATERAL (
/*load*/) c ON true
 ORDER BY c.revision DESC
