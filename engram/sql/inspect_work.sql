-- Work that waits, is stuck or is dead, and memories without their vector, of this tenant.
SELECT count(*) FILTER (WHERE state = 'queued') AS waiting,
       count(*) FILTER (WHERE state = 'dead') AS dead,
       count(*) FILTER (WHERE state = 'running' AND lease_until < clock_timestamp()) AS stuck,
       (SELECT count(*) FROM engram.agent_memory WHERE tenant_id = engram.current_tenant() AND embed_state = 'pending') AS unembedded
  FROM engram.memory_jobs
 WHERE tenant_id = engram.current_tenant()
