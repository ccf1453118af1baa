-- Memories that were written without any model have a vector now.
UPDATE engram.agent_memory SET embed_state = 'embedded'
 WHERE tenant_id = %(tenant_id)s AND memory_id = ANY(%(memory_ids)s::uuid[]) AND embed_state = 'none' AND fact <> ''
