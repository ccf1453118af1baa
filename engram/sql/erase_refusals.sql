-- Forget the words of candidates of some events that were not stored: they are in the decisions alone.
UPDATE engram.memory_changes c
   SET decision = c.decision || '{"fact": null, "nearest": []}'
 WHERE c.tenant_id = %(tenant_id)s AND c.event_id = ANY (%(event_ids)s::uuid[]) AND (c.memory_id IS NULL) IS TRUE AND c.decision IS NOT NULL
