-- Cross memories off the list of those that wait for their vector.
DELETE FROM engram.embedding_backlog
 WHERE tenant_id = %(tenant_id)s AND model_id = %(model_id)s AND memory_id = ANY(%(memory_ids)s::uuid[])
