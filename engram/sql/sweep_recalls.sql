-- Remove some of a tenant's oldest logged recalls, as far as they are older than an age.
DELETE FROM engram.recall_log l
 USING (SELECT o.recall_id FROM engram.recall_log o WHERE o.tenant_id = %(tenant_id)s ORDER BY o.recall_id LIMIT %(limit)s) old
 WHERE l.tenant_id = %(tenant_id)s AND l.recall_id = old.recall_id AND l.recorded_at < clock_timestamp() - %(age)s::interval
