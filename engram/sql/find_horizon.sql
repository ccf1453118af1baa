-- Who holds followers back, and since when: the oldest open transaction, prepared ones too. How long another user's has been open
-- only its superiors may know; then the oldest event of this tenant that it holds back speaks for it.
SELECT h.kind, h.pid, h.application, h.state,
       coalesce(h.seconds,
                (SELECT extract(epoch FROM clock_timestamp() - e.recorded_at)
                   FROM engram.agent_events e
                  WHERE e.tenant_id = engram.current_tenant() AND e.txid >= pg_snapshot_xmin(pg_current_snapshot())
                  ORDER BY e.txid
                  LIMIT 1), 0)::float8 AS seconds
  FROM (SELECT 'session' AS kind, a.pid, nullif(a.application_name, '') AS application, a.state,
               extract(epoch FROM clock_timestamp() - a.xact_start) AS seconds, age(a.backend_xid) AS xids
          FROM pg_stat_activity a
         WHERE a.backend_xid IS NOT NULL AND a.pid <> pg_backend_pid()
         UNION ALL
        SELECT 'prepared transaction', NULL, p.gid, NULL, extract(epoch FROM clock_timestamp() - p.prepared), age(p.transaction)
          FROM pg_prepared_xacts p) h
 ORDER BY h.xids DESC
 LIMIT 1
