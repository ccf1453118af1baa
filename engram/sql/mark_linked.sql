-- The nearest of these memories were looked for.
UPDATE engram.memory_topic_members k SET linked = true
 WHERE k.tenant_id = %(tenant_id)s AND k.scope_id = %(scope_id)s AND k.memory_id = ANY(%(memory_ids)s::uuid[])
