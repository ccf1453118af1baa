-- Say what the tree of a scope is now, if nobody changed it since it was read.
UPDATE engram.memory_topic_trees t
   SET generation = t.generation + 1, model_id = %(model_id)s, rows = %(rows)s, score = %(score)s, changes = %(changes)s,
       next_topic = %(next_topic)s, made_at = clock_timestamp()
 WHERE t.tenant_id = %(tenant_id)s AND t.scope_id = %(scope_id)s AND t.generation = %(generation)s
