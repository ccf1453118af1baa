-- Add to a replay what the live memories have taken in and it has not: each event once for each deriver that has read it, and the
-- direct changes. They come in the order in which the live memories learned of them, as far as their history tells.
WITH taken AS (
  SELECT e.event_id, e.stream_id, e.position, e.recorded_at, p.part, p.rank
    FROM engram.agent_events e
   CROSS JOIN LATERAL (
         SELECT 'direct' AS part, 0::bigint AS rank WHERE e.event_type = ANY(%(changes)s)
          UNION ALL
         SELECT w.deriver, array_position(%(known)s::text[], w.deriver)::bigint
           FROM unnest(e.derive) w(deriver)
          WHERE w.deriver = ANY(%(known)s) AND (%(derivers)s::text[] IS NULL OR w.deriver = ANY(%(derivers)s))
            AND EXISTS (SELECT FROM engram.derivations d
                         WHERE d.tenant_id = e.tenant_id AND d.stream_id = e.stream_id AND d.deriver = w.deriver
                           AND d.position >= e.position)) p
   WHERE e.tenant_id = %(tenant_id)s AND e.scope_id = %(scope_id)s
     AND NOT EXISTS (SELECT FROM engram.replay_steps s
                      WHERE s.tenant_id = e.tenant_id AND s.shadow_id = %(shadow_id)s AND s.event_id = e.event_id
                        AND s.part = p.part)),
-- What the model said of each event: the first answer that is kept counts, until the event was read once more, as it is when something
-- beside it was erased.
answered AS (
  SELECT t.*, c.call_id, c.finished_at AS answered_at, c.until
    FROM taken t
    LEFT JOIN LATERAL (
         SELECT c.call_id, c.finished_at, c.answer IS NOT NULL AS kept, lead(c.started_at) OVER (ORDER BY c.started_at) AS until
           FROM engram.llm_call_events n
           JOIN engram.llm_calls c ON c.tenant_id = n.tenant_id AND c.call_id = n.call_id
          WHERE t.part = 'llm' AND n.tenant_id = %(tenant_id)s AND n.event_id = t.event_id AND NOT n.context AND c.component = 'extract'
          ORDER BY kept DESC, c.started_at LIMIT 1) c ON c.kept),
-- A language model reads later than the others: its own place is where it last changed what it had a statement in.
traced AS (
  SELECT t.*, c.change_id, coalesce(c.at, t.recorded_at) AS at
    FROM answered t
    LEFT JOIN LATERAL (
         SELECT CASE WHEN t.part = 'llm' THEN max(x.change_id) ELSE min(x.change_id) END AS change_id,
                CASE WHEN t.part = 'llm' THEN max(x.recorded_at) ELSE min(x.recorded_at) END AS at
           FROM engram.memory_changes x
          WHERE x.tenant_id = %(tenant_id)s AND x.event_id = t.event_id AND x.scope_id = %(scope_id)s
            AND (t.part <> 'llm' OR x.recorded_at < coalesce(t.until, 'infinity') AND EXISTS (
                 SELECT FROM engram.memory_sources q
                  WHERE q.tenant_id = x.tenant_id AND q.memory_id = x.memory_id AND q.event_id = t.event_id
                    AND q.deriver = 'llm'))) c ON true),
-- What one question to the model was about is read at once, where the last of it left its trace. Who says the same in another stream has
-- that answer, too, but was read by itself.
asked AS (
  SELECT t.*, coalesce(t.answered_at, t.at) AS known_at,
         CASE WHEN t.call_id IS NULL THEN t.change_id ELSE max(t.change_id) OVER (PARTITION BY t.call_id, t.stream_id) END AS done,
         CASE WHEN t.call_id IS NOT NULL
              THEN max(t.at) FILTER (WHERE t.change_id IS NOT NULL) OVER (PARTITION BY t.call_id, t.stream_id) END AS read_at
    FROM traced t),
-- What left no trace comes after all that was recorded before it; a direct change after all that was done when it was made, for then it
-- changed nothing; what the model read after all that was done before it answered, and where no answer is kept in front of its next words
-- about the stream, or at the end.
placed AS (
  SELECT t.event_id, t.stream_id, t.position, t.recorded_at, t.part, t.rank, coalesce(t.read_at, t.at) AS at,
         CASE WHEN t.done IS NULL AND t.part <> 'llm' THEN 1 WHEN t.done IS NULL AND t.answered_at IS NOT NULL THEN 2 ELSE 0 END AS tier,
         CASE WHEN t.done IS NULL THEN t.answered_at END AS answered_at,
         coalesce(t.done,
                  CASE WHEN t.part = 'direct' THEN max(t.done) OVER made
                       WHEN t.part <> 'llm' THEN max(t.done) OVER recorded
                       WHEN t.answered_at IS NOT NULL THEN max(t.done) OVER known
                       ELSE coalesce(min(t.done) OVER following, max(t.done) OVER () + 1) END, 0) AS key
    FROM asked t
  WINDOW following AS (PARTITION BY t.stream_id, t.part ORDER BY t.position ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING),
         recorded AS (ORDER BY t.recorded_at, t.stream_id, t.position, t.rank ROWS UNBOUNDED PRECEDING),
         made AS (ORDER BY coalesce(t.read_at, t.at)),
         known AS (ORDER BY t.known_at))
INSERT INTO engram.replay_steps (tenant_id, shadow_id, place, event_id, part, at)
SELECT %(tenant_id)s, %(shadow_id)s,
       coalesce((SELECT max(s.place) FROM engram.replay_steps s WHERE s.tenant_id = %(tenant_id)s AND s.shadow_id = %(shadow_id)s), 0)
         + row_number() OVER (ORDER BY p.key, p.tier, p.answered_at, p.recorded_at, p.stream_id, p.position, p.rank),
       p.event_id, p.part, p.at
  FROM placed p
 WHERE (%(since)s::timestamptz IS NULL OR p.at > %(since)s::timestamptz)
   AND (%(until)s::timestamptz IS NULL OR p.at < %(until)s::timestamptz)
