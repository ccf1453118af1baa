-- Whether words of a tenant's events are in the index.
SELECT EXISTS (SELECT FROM engram.event_readings r WHERE r.tenant_id = %(tenant_id)s)
