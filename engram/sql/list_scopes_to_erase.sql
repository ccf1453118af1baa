-- The scopes of a user, or one scope, with their shelves and shadows; the scope itself comes first.
WITH own AS (
  SELECT s.scope_id FROM engram.memory_scopes s
   WHERE s.tenant_id = %(tenant_id)s AND s.scope_id > 0 AND s.shelf_of IS NULL
     AND (s.scope_id = %(scope_id)s::bigint OR s.user_id = %(user_id)s::text)),
shelved AS (
  SELECT s.scope_id FROM own
   CROSS JOIN LATERAL (
         SELECT s.scope_id FROM engram.memory_scopes s
          WHERE s.tenant_id = %(tenant_id)s AND s.shelf_of = own.scope_id OFFSET 0) s)
SELECT scope_id, 1 AS place FROM own
 UNION ALL SELECT scope_id, 2 FROM shelved
 UNION ALL
SELECT s.scope_id, 3 FROM engram.memory_scopes s
 WHERE s.tenant_id = %(tenant_id)s AND s.scope_id <= 0 AND s.shadow_of IN (SELECT scope_id FROM own UNION ALL SELECT scope_id FROM shelved)
 ORDER BY place, scope_id
