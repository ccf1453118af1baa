-- Every committed event after a place, in the order of (transaction, stream, position), below the oldest open transaction.
SELECT e.txid::text AS txid, e.tenant_id, e.stream_id, e.position, e.event_id, e.scope_id, e.role, e.event_type, e.trust, e.occurred_at, e.recorded_at,
       e.session_id, e.task_run_id, e.actor, e.idempotency_key, e.hash, p.body
  FROM engram.agent_events e
  LEFT JOIN engram.agent_event_payloads p
    ON p.tenant_id = e.tenant_id AND p.stream_id = e.stream_id AND p.position = e.position
 WHERE e.tenant_id = engram.current_tenant()
   AND (e.txid, e.stream_id, e.position) > (%(txid)s::xid8, %(stream_id)s::uuid, %(position)s)
   AND e.txid < pg_snapshot_xmin(pg_current_snapshot())
   AND (%(below)s::xid8 IS NULL OR e.txid < %(below)s::xid8)
   AND (%(scope_ids)s::bigint[] IS NULL OR e.scope_id = ANY (%(scope_ids)s))
   AND (%(types)s::text[] IS NULL OR e.event_type = ANY (%(types)s))
 ORDER BY e.txid, e.stream_id, e.position
 LIMIT %(limit)s
