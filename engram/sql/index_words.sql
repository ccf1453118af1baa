-- Write, or write again, the words memories are found by. What a memory is about (its slot, topic and attribute) stands with
-- what was said just before it.
INSERT INTO engram.memory_lexemes (tenant_id, scope_id, memory_id, lexemes, own_terms)
SELECT %(tenant_id)s, %(scope_id)s, w.memory_id,
       engram.memory_lexemes_of(%(scope_id)s, %(config)s::regconfig, w.own,
         w.before || ' ' || lower(translate(concat_ws(' ', m.critical_slot, m.topic_key, m.attribute), ':_-.', '    ')), w.after, w.farther),
       (SELECT coalesce(sum(cardinality(u.positions)), 0) FROM unnest(to_tsvector(%(config)s::regconfig, left(w.own, 100000))) u)
  FROM unnest(%(memory_ids)s::uuid[], %(own)s::text[], %(before)s::text[], %(after)s::text[], %(farther)s::text[])
       w(memory_id, own, before, after, farther)
  LEFT JOIN engram.agent_memory m ON m.tenant_id = %(tenant_id)s AND m.memory_id = w.memory_id
 ORDER BY w.memory_id
    ON CONFLICT (tenant_id, memory_id) DO UPDATE SET lexemes = excluded.lexemes, own_terms = excluded.own_terms
