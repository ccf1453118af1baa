-- How much each says of the question: of all that hold its rarest words, or of those of them that fit where few do.
narrowed AS (
  SELECT m.memory_id, m.scope_id, m.own_terms, m.lexemes
    FROM matched m
   WHERE NOT (SELECT s.whole FROM sparse s) OR (m.memory_id IN (SELECT a.memory_id FROM all_fitting a)) IS TRUE),
said AS MATERIALIZED (
  /*scores*/)
