-- The lexemes of each word of a question, and in how many memories of the scopes each occurs: from the table of frequencies
-- where there is one (large scopes) and the word is in it, otherwise counted.
WITH scopes AS MATERIALIZED (
  SELECT s.scope_id, t.df AS size
    FROM unnest(%(scope_ids)s::bigint[]) s(scope_id)
    LEFT JOIN LATERAL (
         SELECT t.df
           FROM engram.memory_terms t
          WHERE t.tenant_id = %(tenant_id)s AND t.scope_id = s.scope_id AND t.term = '' OFFSET 0) t ON true),
asked AS MATERIALIZED (
  SELECT w.place, w.word, l.lexeme
    FROM unnest(%(words)s::text[]) WITH ORDINALITY w(word, place)
    LEFT JOIN LATERAL (SELECT u.lexeme FROM unnest(to_tsvector(%(config)s::regconfig, w.word)) u) l ON true),
counted AS MATERIALIZED (
  SELECT t.lexeme,
         coalesce(sum(k.df), 0)
         + coalesce(engram.lexeme_frequency(
             array_agg(s.scope_id) FILTER (WHERE k.df IS NULL),
             (string_agg(engram.scoped_lexeme(s.scope_id, t.lexeme) || ':A', ' | ') FILTER (WHERE k.df IS NULL))::tsquery,
             %(most)s), 0) AS df
    FROM (SELECT DISTINCT lexeme FROM asked WHERE lexeme IS NOT NULL) t
   CROSS JOIN scopes s
    LEFT JOIN LATERAL (
         SELECT k.df
           FROM engram.memory_terms k
          WHERE s.size IS NOT NULL AND k.tenant_id = %(tenant_id)s AND k.scope_id = s.scope_id AND k.term = t.lexeme
         OFFSET 0) k ON true
   GROUP BY t.lexeme)
SELECT a.word, a.lexeme, c.df::bigint
  FROM asked a
  LEFT JOIN counted c ON c.lexeme = a.lexeme
 ORDER BY a.place, a.lexeme
