-- Note that memories have their vector now.
UPDATE engram.agent_memory SET embed_state = 'embedded'
 WHERE tenant_id = %(tenant_id)s AND memory_id = ANY(%(memory_ids)s::uuid[]) AND fact <> ''
RETURNING memory_id::text
