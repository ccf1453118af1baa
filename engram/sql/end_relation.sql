-- End a relation that stands; its history keeps what it was.
UPDATE engram.memory_relations
   SET ended_at = %(at)s, changed_at = %(at)s, holds_at = %(holds_at)s, event_id = %(event_id)s
 WHERE tenant_id = %(tenant_id)s AND source_id = %(source_id)s AND target_id = %(target_id)s AND relation_type = %(relation_type)s
   AND ended_at IS NULL
