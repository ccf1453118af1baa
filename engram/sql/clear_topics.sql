-- Take the topics of a scope away, but for those that are kept.
DELETE FROM engram.memory_topics t
 WHERE t.tenant_id = %(tenant_id)s AND t.scope_id = %(scope_id)s AND t.topic_id <> ALL (%(kept)s::integer[])
