-- The keyword channel: the memories that hold the rarest words of the question, and the coverage of those other channels found.
/*matched*/,
worded AS (
  SELECT m.memory_id, m.scope_id, m.own_terms, m.lexemes FROM matched m
   UNION ALL
  SELECT l.memory_id, l.scope_id, l.own_terms, l.lexemes
    FROM (SELECT memory_id FROM beside EXCEPT SELECT memory_id FROM matched) b
   CROSS JOIN LATERAL (
         SELECT l.memory_id, l.scope_id, l.own_terms, l.lexemes
           FROM engram.memory_lexemes l
          WHERE l.tenant_id = %(tenant_id)s AND l.memory_id = b.memory_id AND (l.scope_id = ANY(%(scope_ids)s)) IS TRUE OFFSET 0) l),
scored AS MATERIALIZED (
  /*scores*/),
keyword AS MATERIALIZED (
  SELECT s.memory_id, s.coverage FROM scored s ORDER BY s.coverage DESC, s.memory_id LIMIT %(fetch)s)
