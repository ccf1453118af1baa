-- What was said between some positions of streams, and whether in a session: what is said in none stands beside a scope's direct
-- changes. An event that speaks of a private memory, or of what was refused and was to be one, says nothing to those around it.
SELECT w.stream_id::text AS stream_id, e.position, e.event_type, e.actor, e.occurred_at, p.body, s.in_session
  FROM unnest(%(stream_ids)s::uuid[], %(firsts)s::bigint[], %(lasts)s::bigint[]) w(stream_id, first, last)
 CROSS JOIN LATERAL (
       SELECT o.stream_id, o.kind <> 'scope' AS in_session FROM engram.event_streams o
        WHERE o.tenant_id = %(tenant_id)s AND o.stream_id = w.stream_id
        LIMIT 1) s
 CROSS JOIN LATERAL (
       -- The order and the limit keep the planner, which cannot know how near two positions are, on the key.
       SELECT n.stream_id, n.position, n.event_id, n.event_type, n.actor, n.occurred_at
         FROM engram.agent_events n
        WHERE n.tenant_id = %(tenant_id)s AND n.stream_id = w.stream_id AND n.position BETWEEN w.first AND w.last
        ORDER BY n.position
        LIMIT %(most)s) e
  LEFT JOIN LATERAL (
       SELECT true AS kept
         FROM engram.memory_changes c
         LEFT JOIN LATERAL (
              SELECT m.private FROM engram.agent_memory m
               WHERE m.tenant_id = %(tenant_id)s AND m.memory_id = c.memory_id OFFSET 0) o ON true
        WHERE c.tenant_id = %(tenant_id)s AND c.event_id = e.event_id AND (o.private OR c.decision->'private' = 'true')
        LIMIT 1) h ON true
  LEFT JOIN LATERAL (
       SELECT b.body FROM engram.agent_event_payloads b
        WHERE b.tenant_id = %(tenant_id)s AND b.stream_id = e.stream_id AND b.position = e.position
          AND octet_length(b.body) <= 65536 AND e.event_type = ANY(%(spoken)s) AND h.kept IS NULL
        LIMIT 1) p ON true
 ORDER BY w.stream_id, e.position
