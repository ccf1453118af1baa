-- What runs, or an event, did to memories: of each the state before the first and after the last of these changes, the last first.
-- Of many changes the newest are looked at.
WITH latest AS (
  SELECT c.memory_id, c.change_id
    FROM engram.memory_changes c
    JOIN engram.agent_memory m ON m.tenant_id = c.tenant_id AND m.memory_id = c.memory_id
   WHERE c.tenant_id = %(tenant_id)s AND c.state IS NOT NULL AND /*which*/
     AND (%(before)s::bigint IS NULL OR c.change_id < %(before)s::bigint)
     AND m.scope_id = ANY(%(scope_ids)s) AND (NOT m.private OR m.scope_id = %(own)s)
   ORDER BY c.change_id DESC
   LIMIT %(limit)s),
touched AS (
  SELECT l.memory_id, min(l.change_id) AS first, max(l.change_id) AS last FROM latest l GROUP BY l.memory_id)
SELECT t.memory_id::text, t.first, l.scope_id, l.entry, l.state AS after, l.because, l.event_id::text, b.state AS before,
       (SELECT count(*) FROM engram.memory_changes n
         WHERE n.tenant_id = %(tenant_id)s AND n.memory_id = t.memory_id AND n.change_id BETWEEN t.first AND t.last
           AND n.entry = 'reinforced' AND n.run_id IS NULL)::integer AS repeated
  FROM touched t
  JOIN engram.memory_changes l ON l.tenant_id = %(tenant_id)s AND l.change_id = t.last
  LEFT JOIN LATERAL (
       SELECT p.state FROM engram.memory_changes p
        WHERE p.tenant_id = %(tenant_id)s AND p.memory_id = t.memory_id AND p.change_id < t.first AND p.state IS NOT NULL
        ORDER BY p.change_id DESC LIMIT 1) b ON true
 ORDER BY t.last DESC
