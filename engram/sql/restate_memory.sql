-- A restatement moves a row to the latest of its best trusted statements, unites the tags, and raises the trust if it is better.
UPDATE engram.agent_memory m
   SET stands_at = CASE WHEN s.rests THEN %(holds_at)s ELSE m.stands_at END,
       stands_recorded_at = CASE WHEN s.rests THEN %(stated_recorded_at)s ELSE m.stands_recorded_at END,
       stands_event_id = CASE WHEN s.rests THEN %(event_id)s::uuid ELSE m.stands_event_id END,
       stands_ordinal = CASE WHEN s.rests THEN %(ordinal)s ELSE m.stands_ordinal END,
       tags = %(tags)s,
       importance = greatest(m.importance, coalesce(%(importance)s, 0)),
       trust = least(m.trust, %(trust)s)
  FROM (SELECT (-%(trust)s::integer, %(holds_at)s::timestamptz, %(stated_recorded_at)s::timestamptz, %(event_id)s::uuid, %(ordinal)s::integer)
               > (-greatest(b.trust, q.trust), b.stands_at, b.stands_recorded_at, b.stands_event_id, b.stands_ordinal) AS rests
          FROM engram.agent_memory b
          LEFT JOIN engram.memory_sources q
            ON q.tenant_id = b.tenant_id AND q.memory_id = b.memory_id AND q.event_id = b.stands_event_id
           AND q.ordinal = b.stands_ordinal
         WHERE b.tenant_id = %(tenant_id)s AND b.memory_id = %(memory_id)s::uuid) s
 WHERE m.tenant_id = %(tenant_id)s AND m.memory_id = %(memory_id)s::uuid
