-- The semantic channel: the memories nearest the question's vector.
semantic AS MATERIALIZED (
  SELECT n.memory_id, n.cosine
    FROM (/*walked*/(
/*exact*/)) n
   ORDER BY n.cosine DESC, n.memory_id
   LIMIT %(fetch)s)
