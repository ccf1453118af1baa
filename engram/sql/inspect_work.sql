-- Work that waits, is paused, stuck or dead, with the classes it died of, how long a deriver has left something unread, and memories
-- without their vector, of this tenant.
SELECT count(*) FILTER (WHERE state = 'queued') AS waiting,
       count(*) FILTER (WHERE state = 'paused') AS paused,
       count(*) FILTER (WHERE state = 'dead') AS dead,
       count(*) FILTER (WHERE state = 'running' AND lease_until < clock_timestamp()) AS stuck,
       coalesce(extract(epoch FROM clock_timestamp() - min(created_at) FILTER (WHERE kind IN ('derive', 'extract'))), 0)::float8 AS backlog_age,
       string_agg(DISTINCT error_class, ', ' ORDER BY error_class) FILTER (WHERE state = 'dead') AS classes,
       (SELECT count(*) FROM engram.agent_memory WHERE tenant_id = engram.current_tenant() AND embed_state = 'pending') AS unembedded
  FROM engram.memory_jobs
 WHERE tenant_id = engram.current_tenant() AND state IN ('queued', 'running', 'paused', 'dead')
