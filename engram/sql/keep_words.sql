-- The keyword channel of the past: of the memories that hold the words those that stood then, and the coverage of what others found.
worded AS (
  SELECT l.memory_id, l.scope_id, l.own_terms, l.lexemes
    FROM (SELECT memory_id FROM beside EXCEPT SELECT memory_id FROM said) b
   CROSS JOIN LATERAL (
         SELECT l.memory_id, l.scope_id, l.own_terms, l.lexemes
           FROM engram.memory_lexemes l
          WHERE l.tenant_id = %(tenant_id)s AND l.memory_id = b.memory_id AND (l.scope_id = ANY(%(scope_ids)s)) IS TRUE OFFSET 0) l),
scored AS MATERIALIZED (
  SELECT s.memory_id, s.matched, s.coverage
    FROM said s
   WHERE (s.memory_id IN (SELECT c.memory_id FROM eligible c UNION ALL SELECT b.memory_id FROM beside b)) IS TRUE
   UNION ALL
  (/*scores*/)),
keyword AS MATERIALIZED (
  SELECT s.memory_id, s.coverage FROM scored s ORDER BY s.coverage DESC, s.memory_id LIMIT %(fetch)s)
