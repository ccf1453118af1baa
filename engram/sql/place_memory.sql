-- Give a row its place in its lineage.
UPDATE engram.agent_memory
   SET status = %(status)s,
       superseded_by = %(superseded_by)s::uuid,
       superseded_at = CASE WHEN %(status)s = 'superseded' THEN coalesce(CASE WHEN status = 'superseded' THEN superseded_at END,
                                                                         %(at)s::timestamptz, clock_timestamp()) END,
       valid_to = CASE WHEN %(heir_from)s::timestamptz IS NULL THEN ended_at
                       ELSE greatest(valid_from, least(ended_at, %(heir_from)s::timestamptz)) END,
       moot = %(moot)s,
       status_reason = NULL
 WHERE tenant_id = %(tenant_id)s AND memory_id = %(memory_id)s::uuid
