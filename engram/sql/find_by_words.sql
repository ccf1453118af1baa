-- The best memories by the words of a question alone.
WITH beside AS (
  SELECT NULL::uuid AS memory_id WHERE false),
/*keyword*/
SELECT s.memory_id, s.coverage, s.matched
  FROM scored s
 ORDER BY s.coverage DESC, s.memory_id
 LIMIT %(fetch)s
