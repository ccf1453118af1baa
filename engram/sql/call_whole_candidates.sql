-- Everything the channels of an ordinary search find, whole: the light rows, each with its memory. The server keeps the plans.
WITH found AS MATERIALIZED (
  SELECT c.*
    FROM engram.find_candidates(
           %(tenant_id)s, %(scope_ids)s::bigint[], %(own)s, %(superseded)s, %(consolidated)s,
           %(fetch)s, %(wanted)s, %(most_pinned)s, %(also)s::uuid[],
           %(model_id)s, %(vector)s::halfvec, %(graphed)s::bigint[],
           %(window_start)s, %(window_end)s, %(window_centre)s, %(window_half)s,
           %(term_scopes)s::bigint[], %(labels)s::text[], %(terms)s::text[], %(idfs)s::float8[], %(phrases)s::boolean[],
           %(sought)s::text[], %(leads)s::boolean[], %(total)s, %(most)s,
           %(depth)s, %(seeds)s, %(seed_floor)s, %(breadth)s, %(considered)s, %(named)s, %(names)s::text[],
           %(structural)s::text[], %(unfollowed)s::text[], %(loose_cosine)s) c)
SELECT w.*, f.channels, f.cosine, f.coverage, f.matched, f.closeness, f.seed_id, f.nearness, f.found, f.stands, f.heir, f.epochs,
       f.distilled, f.place, f.model_in_use
  FROM engram.whole_memories(%(tenant_id)s, %(scope_ids)s::bigint[], %(own)s, ARRAY(SELECT f.memory_id::uuid FROM found f)) w
  JOIN found f ON f.memory_id = w.memory_id
 ORDER BY w.revision DESC
