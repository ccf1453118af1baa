-- The clock of a scope, and the cycle it is in the middle of, if there is one.
SELECT s.epoch, s.cycled_change_id, clock_timestamp() AS now,
       (SELECT r.run_id::text FROM engram.lifecycle_runs r
         WHERE r.tenant_id = %(tenant_id)s AND r.scope_id = %(scope_id)s AND NOT r.finished AND r.step = 'consolidate'
           AND r.undone_by IS NULL AND r.cycle IS NOT NULL
         ORDER BY r.started_at DESC LIMIT 1) AS run_id
  FROM engram.memory_scopes s
 WHERE s.tenant_id = %(tenant_id)s AND s.scope_id = %(scope_id)s
