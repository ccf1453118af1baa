-- Take from revisions, and from their history, what they have of what was erased of their lineages: all that no other memory there says,
-- that nothing gave them later, and that does not follow from their own texts. Those that had something are to be indexed again.
WITH heir AS (
  SELECT m AS memory, m.memory_id, h.line, to_jsonb(h) AS own
    FROM jsonb_to_recordset(%(heirs)s) h (memory_id uuid, line uuid, main_content text, category text, critical_slot text, conflict_key text, subject text)
    JOIN engram.agent_memory m ON m.tenant_id = %(tenant_id)s AND m.memory_id = h.memory_id),
states AS (
  SELECT c.change_id, c.memory_id, c.state, lag(c.state) OVER (PARTITION BY c.memory_id ORDER BY c.change_id) AS was
    FROM engram.memory_changes c
   WHERE c.tenant_id = %(tenant_id)s AND c.state IS NOT NULL
     AND c.memory_id IN (SELECT o.memory_id FROM engram.agent_memory o
                          WHERE o.tenant_id = %(tenant_id)s AND o.lineage_id IN (SELECT heir.line FROM heir)
                            AND o.status_reason IS DISTINCT FROM 'erased'
                          UNION SELECT heir.memory_id FROM heir)),
said AS (
  SELECT o.lineage_id AS line, w.name, w.value
    FROM engram.agent_memory o
   CROSS JOIN LATERAL (
         SELECT name, value FROM engram.words_of(to_jsonb(o))
          UNION SELECT v.name, v.value FROM states s CROSS JOIN LATERAL engram.words_of(s.state) v WHERE s.memory_id = o.memory_id) w
   WHERE o.tenant_id = %(tenant_id)s AND o.lineage_id IN (SELECT heir.line FROM heir)
     AND o.status_reason IS DISTINCT FROM 'erased' AND o.memory_id NOT IN (SELECT heir.memory_id FROM heir)
   UNION
  SELECT h.line, w.name, w.value
    FROM heir h
    JOIN states s ON s.memory_id = h.memory_id AND s.was IS NOT NULL
   CROSS JOIN LATERAL (SELECT name, value FROM engram.words_of(s.state) EXCEPT SELECT name, value FROM engram.words_of(s.was)) w
   UNION
  SELECT h.line, 'main_content', h.own -> 'main_content' FROM heir h WHERE h.own ->> 'main_content' IS NOT NULL),
lost AS (
  SELECT h.memory_id, jsonb_agg(jsonb_build_array(w.name, w.value)) AS words
    FROM heir h
   CROSS JOIN LATERAL (
         SELECT name, value FROM engram.words_of(to_jsonb(h.memory))
          UNION SELECT v.name, v.value FROM states s CROSS JOIN LATERAL engram.words_of(s.state) v WHERE s.memory_id = h.memory_id
         EXCEPT SELECT s.name, s.value FROM said s WHERE s.line = h.line) w
   WHERE h.own -> w.name IS DISTINCT FROM w.value
   GROUP BY h.memory_id),
forgot AS (
  UPDATE engram.memory_changes c SET state = engram.without_words(c.state, l.words)
    FROM lost l
   WHERE c.tenant_id = %(tenant_id)s AND c.memory_id = l.memory_id AND c.state IS NOT NULL),
unworded AS (
  DELETE FROM engram.memory_lexemes x USING lost l WHERE x.tenant_id = %(tenant_id)s AND x.memory_id = l.memory_id
  RETURNING x.scope_id, x.lexemes),
uncounted AS (   -- as where memories are erased
  DELETE FROM engram.memory_terms t USING unworded u
   WHERE t.tenant_id = %(tenant_id)s AND t.scope_id = u.scope_id
     AND u.scope_id || ':' || t.term = ANY (tsvector_to_array(u.lexemes)))
UPDATE engram.agent_memory m
   SET tags = n.tags, metadata = n.metadata, source = n.source, category = n.category, critical_slot = n.critical_slot,
       main_content = n.main_content, topic_key = n.topic_key, subject = n.subject, attribute = n.attribute, value = n.value,
       conflict_key = n.conflict_key
  FROM lost l
  JOIN heir h ON h.memory_id = l.memory_id
 CROSS JOIN LATERAL jsonb_populate_record(h.memory, engram.without_words(to_jsonb(h.memory), l.words)) n
 WHERE m.tenant_id = %(tenant_id)s AND m.memory_id = l.memory_id
RETURNING m.memory_id::text
