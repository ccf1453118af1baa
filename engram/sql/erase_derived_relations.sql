-- Take away the relations that derivers drew from an event.
DELETE FROM engram.memory_relations
 WHERE tenant_id = %(tenant_id)s AND event_id = %(event_id)s::uuid AND auto
