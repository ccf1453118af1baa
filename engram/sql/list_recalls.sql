-- Logged recalls that a scope may see, newest first: its own and those of the scopes it reads; those that read several scopes as one
-- are for who reads as widely.
SELECT l.recall_id::text, l.scope_id, l.recorded_at, l.known_at, l.kind, l.query, l.plan, l.found, l.chosen::text[], l.intent, l.degraded,
       l.versions, l.tokens, l.milliseconds
  FROM engram.recall_log l
 WHERE l.tenant_id = %(tenant_id)s
   AND (l.scope_id = ANY(%(scope_ids)s)
        OR (%(wide)s AND l.scope_id IS NULL AND l.scope_ids <> '{}' AND l.scope_ids <@ %(scope_ids)s::bigint[]))
   AND (%(recall_id)s::uuid IS NULL OR l.recall_id = %(recall_id)s::uuid)
   AND (%(before)s::uuid IS NULL OR l.recall_id < %(before)s::uuid)
 ORDER BY l.recall_id DESC
 LIMIT %(limit)s
