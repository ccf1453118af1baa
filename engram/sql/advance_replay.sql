-- Note how far a replay has come, if it is still where the caller saw it.
UPDATE engram.memory_replays
   SET place = %(new)s, state = CASE WHEN state = 'building' AND %(ready)s THEN 'ready' ELSE state END, changed_at = clock_timestamp()
 WHERE tenant_id = %(tenant_id)s AND shadow_id = %(shadow_id)s AND place = %(old)s
