-- Who changed which memory, how and why, the newest first, each change with the state before it and the one it left: of few
-- scopes the newest of each, by its index. The reader fills in what an entry is called.
SELECT c.change_id, c.place, c.newest, c.recorded_at, c.entry, c.memory_id::text, c.fact, c.reason, c.because, c.actor, c.event_id::text,
       c.run_id::text, r.step, r.undone_by IS NOT NULL AS undone, c.state AS after, b.state AS before, c.previous_id::text
  FROM (SELECT h.change_id, o.place, max(h.change_id) OVER () AS newest, h.recorded_at, /*turn*/ AS turn, /*entry*/ AS entry,
               h.memory_id, h.fact, h.reason, h.because, h.actor, h.event_id, h.run_id, h.state, h.previous_id
          FROM /*of*/
         CROSS JOIN LATERAL (
               SELECT c.change_id, c.recorded_at, c.entry, c.status, c.memory_id, m.fact, c.reason, c.because, c.actor,
                      c.event_id, c.run_id, c.state, c.previous_id
                 FROM engram.memory_changes c
                CROSS JOIN LATERAL (
                      SELECT m.fact
                        FROM engram.agent_memory m
                       WHERE m.tenant_id = %(tenant_id)s AND m.memory_id = c.memory_id
                         AND (NOT m.private OR m.scope_id = %(own)s) IS TRUE OFFSET 0) m
                WHERE c.tenant_id = %(tenant_id)s AND /*key*/ AND c.entry <> 'embedded'
                  AND (%(actor)s::text IS NULL OR c.actor = %(actor)s::text)
                  AND (%(since)s::timestamptz IS NULL OR c.recorded_at >= %(since)s::timestamptz)
                  AND (%(until)s::timestamptz IS NULL OR c.recorded_at < %(until)s::timestamptz)
                  AND /*before*/
                ORDER BY /*order*/
                LIMIT %(limit)s) h
         ORDER BY turn DESC, h.change_id DESC
         LIMIT %(limit)s) c
  LEFT JOIN engram.lifecycle_runs r ON r.tenant_id = %(tenant_id)s AND r.run_id = c.run_id
  LEFT JOIN LATERAL (
       SELECT p.state FROM engram.memory_changes p
        WHERE p.tenant_id = %(tenant_id)s AND p.memory_id = c.memory_id AND p.change_id < c.change_id AND p.state IS NOT NULL
        ORDER BY p.change_id DESC LIMIT 1) b ON true
 ORDER BY c.turn DESC, c.change_id DESC
