-- The pairs of characters that end with some characters: of a scope whose words are counted among those, of others among the own
-- words of so many memories.
WITH scopes AS MATERIALIZED (
  SELECT s.scope_id,
         EXISTS (SELECT FROM engram.memory_terms t
                  WHERE t.tenant_id = %(tenant_id)s AND t.scope_id = s.scope_id AND t.term = '') AS counted
    FROM unnest(%(scope_ids)s::bigint[]) s(scope_id)),
ending AS MATERIALIZED (
  SELECT right(u.lexeme, 2) AS pair
    FROM (SELECT l.scope_id, l.lexemes
            FROM engram.memory_lexemes l
           WHERE l.tenant_id = %(tenant_id)s AND l.scope_id = ANY (ARRAY(SELECT s.scope_id FROM scopes s WHERE NOT s.counted))
           LIMIT %(looked)s) l
   CROSS JOIN LATERAL unnest(l.lexemes) u
   WHERE right(u.lexeme, 1) = ANY (%(chars)s::text[]) AND char_length(u.lexeme) = char_length(l.scope_id::text) + 3
     AND 'A' = ANY (u.weights)
   UNION
  SELECT t.term
    FROM engram.memory_terms t
   WHERE t.tenant_id = %(tenant_id)s AND t.scope_id = ANY (ARRAY(SELECT s.scope_id FROM scopes s WHERE s.counted))
     AND right(t.term, 1) = ANY (%(chars)s::text[]) AND char_length(t.term) = 2)
SELECT c.char, ARRAY(SELECT e.pair FROM ending e WHERE right(e.pair, 1) = c.char ORDER BY e.pair) AS pairs
  FROM unnest(%(chars)s::text[]) c(char)
