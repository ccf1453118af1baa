-- Whether every event is of a transaction this server has seen: a ledger restored into a younger server is not.
SELECT NOT EXISTS (SELECT FROM engram.agent_events e
                    WHERE e.tenant_id = engram.current_tenant() AND e.txid > pg_snapshot_xmax(pg_current_snapshot())) AS ok
