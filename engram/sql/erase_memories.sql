-- Empty the memories made of an event, or by a model that read other events beside it, everywhere their words were copied to: each
-- becomes a tombstone in its lineage, where its own event had put it: what others said of it again is derived anew. It is trusted as that
-- event, or as who vouched for it: what it had superseded by that stays superseded.
WITH gone AS (
  UPDATE engram.agent_memory m
     SET fact = '', fact_hash = %(empty)s, main_content = NULL, tags = '{}', metadata = '{}', marks = '{}',
         category = CASE WHEN m.category IN ('verbatim', 'source_chunk') THEN m.category END, topic_key = NULL, subject = NULL,
         attribute = NULL, value = NULL, negates = NULL, critical_slot = NULL, conflict_key = NULL, source = NULL, surprise = NULL,
         status = 'deleted', status_reason = 'erased', embed_state = 'none', stands_at = coalesce(own.holds_at, m.stands_at),
         stands_recorded_at = coalesce(own.recorded_at, m.stands_recorded_at), stands_event_id = m.event_id,
         stands_ordinal = coalesce(own.ordinal, m.stands_ordinal), trust = least(coalesce(own.trust, m.trust), vouched.trust)
    FROM engram.agent_memory n
    LEFT JOIN LATERAL (
         SELECT q.holds_at, q.recorded_at, q.ordinal, q.trust
           FROM engram.memory_sources q
          WHERE q.tenant_id = n.tenant_id AND q.memory_id = n.memory_id AND q.event_id = n.event_id
          ORDER BY q.trust, q.holds_at DESC, q.recorded_at DESC, q.ordinal DESC LIMIT 1) own ON true
   CROSS JOIN LATERAL (
         SELECT min(e.trust) AS trust
           FROM engram.memory_changes c
           JOIN engram.agent_events e ON e.tenant_id = c.tenant_id AND e.event_id = c.event_id AND e.event_type = 'memory_endorsed'
          WHERE c.tenant_id = n.tenant_id AND c.memory_id = n.memory_id AND c.entry = 'annotated' AND c.because IS NULL) vouched
   WHERE n.tenant_id = m.tenant_id AND n.memory_id = m.memory_id
     AND m.tenant_id = %(tenant_id)s AND m.status_reason IS DISTINCT FROM 'erased'
     AND m.event_id = ANY (%(event_id)s::uuid || %(beside)s::uuid[])
     AND (m.event_id = %(event_id)s::uuid OR m.deriver = 'llm' OR EXISTS (SELECT FROM engram.memory_sources a
            WHERE a.tenant_id = m.tenant_id AND a.memory_id = m.memory_id AND a.event_id = %(event_id)s::uuid AND a.ordinal >= 10000))
  RETURNING m.memory_id, m.scope_id),
unvectored AS (
  DELETE FROM engram.memory_embeddings e USING gone
   WHERE e.tenant_id = %(tenant_id)s AND e.scope_id = gone.scope_id AND e.memory_id = gone.memory_id),
unworded AS (
  DELETE FROM engram.memory_lexemes l USING gone WHERE l.tenant_id = %(tenant_id)s AND l.memory_id = gone.memory_id
  RETURNING l.scope_id, l.lexemes),
uncounted AS (   -- a word without a count is counted when it is asked for
  DELETE FROM engram.memory_terms t
   WHERE t.tenant_id = %(tenant_id)s AND t.scope_id = ANY (ARRAY(SELECT u.scope_id FROM unworded u))
     AND t.term = ANY (ARRAY(SELECT substr(w.lexeme, length(u.scope_id || ':') + 1)
                               FROM unworded u CROSS JOIN LATERAL unnest(tsvector_to_array(u.lexemes)) w (lexeme)))),
unremembered AS (
  UPDATE engram.memory_changes c
     SET state = c.state - '{tags,metadata,source,critical_slot,category,marks}'::text[], decision = NULL, reason = NULL,
         because = NULL
    FROM gone
   WHERE c.tenant_id = %(tenant_id)s AND c.memory_id = gone.memory_id),
unrefused AS (   -- what was not stored is in its decision alone
  UPDATE engram.memory_changes c
     SET decision = NULL, reason = NULL
   WHERE c.tenant_id = %(tenant_id)s AND c.event_id = %(event_id)s::uuid AND (c.memory_id IS NULL) IS TRUE),
born AS (   -- what is compared with a memory is decided after it was written
  SELECT gone.scope_id, min(coalesce((SELECT min(b.change_id) FROM engram.memory_changes b
                                       WHERE b.tenant_id = %(tenant_id)s AND b.memory_id = gone.memory_id), 0)) AS change_id
    FROM gone GROUP BY gone.scope_id),
unquoted AS (
  UPDATE engram.memory_changes c
     SET decision = jsonb_set(c.decision, '{nearest}', '[]')
   WHERE c.tenant_id = %(tenant_id)s AND c.change_id = ANY (ARRAY(
         SELECT o.change_id
           FROM born
          CROSS JOIN LATERAL (
                SELECT x.change_id
                  FROM engram.memory_changes x
                 WHERE x.tenant_id = %(tenant_id)s AND x.scope_id = born.scope_id AND x.change_id > born.change_id AND x.decision IS NOT NULL
                   AND (x.memory_id IS NULL AND x.event_id IS DISTINCT FROM %(event_id)s::uuid
                        OR x.memory_id NOT IN (SELECT gone.memory_id FROM gone))
                   AND EXISTS (SELECT FROM gone
                                WHERE x.decision->'nearest' @> jsonb_build_array(jsonb_build_object('memory_id', gone.memory_id::text)))
                OFFSET 0) o)))
SELECT memory_id::text FROM gone
