-- Everything the channels of an ordinary search find, whole: the light rows, each with its memory. The reader fills in what calls for these.
WITH found AS MATERIALIZED (
/*light*/)
SELECT w.*, f.channels, f.cosine, f.coverage, f.matched, f.closeness, f.seed_id, f.nearness, f.found, f.stands, f.heir, f.epochs,
       f.distilled, f.place, f.model_in_use
  FROM engram.whole_memories(%(tenant_id)s, %(scope_ids)s::bigint[], %(own)s, ARRAY(SELECT f.memory_id::uuid FROM found f)) w
  JOIN found f ON f.memory_id = w.memory_id
 ORDER BY w.revision DESC
