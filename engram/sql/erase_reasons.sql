-- Take the reason of some events from the history of the memories they changed.
UPDATE engram.memory_changes c SET reason = NULL
 WHERE c.tenant_id = %(tenant_id)s AND c.event_id = ANY (%(event_ids)s::uuid[]) AND c.reason IS NOT NULL
