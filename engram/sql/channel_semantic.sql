-- The semantic channel: the memories nearest the question's vector, of which a graph and what waits beside it may both bring one.
semantic AS MATERIALIZED (
  SELECT n.memory_id, n.cosine
    FROM (SELECT DISTINCT v.memory_id, v.cosine FROM /*near*/ v) n
   ORDER BY n.cosine DESC, n.memory_id
   LIMIT %(fetch)s)
