-- Let nobody change the tree of a scope until the end of this transaction.
SELECT t.generation FROM engram.memory_topic_trees t WHERE t.tenant_id = %(tenant_id)s AND t.scope_id = %(scope_id)s FOR UPDATE
