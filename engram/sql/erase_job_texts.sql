-- Forget what jobs of a stream said of their failures: it may quote an event of it.
UPDATE engram.memory_jobs j SET error_text = NULL
 WHERE j.tenant_id = engram.current_tenant() AND j.stream_id = %(stream_id)s AND j.error_text IS NOT NULL
