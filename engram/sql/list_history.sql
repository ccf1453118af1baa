-- The changes of some memories, of those of a lineage, or of some scopes, newest first: of each place its newest, by its index, or those of
-- all. Each memory is asked for by its key; a change is of the scope of its memory. The reader fills in what an entry is called.
SELECT h.change_id, o.place, max(h.change_id) OVER () AS newest, h.recorded_at, /*entry*/ AS entry, h.memory_id::text,
       h.previous_id::text, h.state->>'superseded_by' AS heir, h.reason, h.actor, h.event_id::text, h.run_id::text
  FROM /*of*/
 CROSS JOIN LATERAL (
       SELECT c.change_id, c.recorded_at, c.entry, c.status, c.memory_id, c.previous_id, c.state, c.reason, c.because, c.actor, c.event_id,
              c.run_id
         FROM engram.memory_changes c
        CROSS JOIN LATERAL (
              SELECT m.memory_id
                FROM engram.agent_memory m
               WHERE m.tenant_id = %(tenant_id)s AND m.memory_id = c.memory_id
                 AND ((%(include_superseded)s OR m.status = 'active') AND /*visible*/ AND (/*filter*/)) IS TRUE OFFSET 0) m
        WHERE c.tenant_id = %(tenant_id)s AND /*key*/ AND c.entry = ANY(%(entries)s)
          AND (%(since)s::timestamptz IS NULL OR c.recorded_at >= %(since)s)
          AND (%(until)s::timestamptz IS NULL OR c.recorded_at < %(until)s)
          AND (%(known_at)s::timestamptz IS NULL OR c.recorded_at <= %(known_at)s)
          AND /*before*/
        ORDER BY /*order*/
        LIMIT %(limit)s) h
 ORDER BY /*turn*/ DESC, h.change_id DESC
 LIMIT %(limit)s
