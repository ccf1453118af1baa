-- The events of a stream whose facts a language model drew from a question that also held a certain event, and the later ones that rules read with it.
select n.event_id::text
  from engram.llm_call_events shown
 cross join lateral (
       select c.call_id from engram.llm_calls c
        where c.tenant_id = shown.tenant_id and c.call_id = shown.call_id and c.component = 'extract' and c.outcome = 'ok' offset 0) c
 cross join lateral (
       select o.event_id from engram.llm_call_events o
        where o.tenant_id = shown.tenant_id and o.call_id = c.call_id and not o.context and o.event_id <> shown.event_id offset 0) n
 cross join lateral (
       select from engram.agent_events e
        where e.tenant_id = shown.tenant_id and e.event_id = n.event_id and e.stream_id = %(stream_id)s::uuid offset 0) e
 where shown.tenant_id = %(tenant_id)s and shown.event_id = %(event_id)s::uuid
union
select m.event_id::text
  from engram.memory_sources q
 cross join lateral (
       select a.position from engram.agent_events a where a.tenant_id = q.tenant_id and a.event_id = q.event_id offset 0) a
 cross join lateral (
       select o.event_id from engram.agent_memory o where o.tenant_id = q.tenant_id and o.memory_id = q.memory_id offset 0) m
 cross join lateral (   -- not what another message said in full, too
       select from engram.agent_events e
        where e.tenant_id = q.tenant_id and e.event_id = m.event_id and e.stream_id = %(stream_id)s::uuid
          and e.position between a.position + 1 and a.position + 2 offset 0) e
 where q.tenant_id = %(tenant_id)s and q.event_id = %(event_id)s::uuid and q.ordinal >= 10000
