-- Say of a scope that its tree is no more, before it goes: whoever makes one at this moment does not write it.
UPDATE engram.memory_topic_trees t SET generation = t.generation + 1, model_id = NULL, rows = 0, score = 0, changes = 0
 WHERE t.tenant_id = %(tenant_id)s AND t.scope_id = %(scope_id)s
