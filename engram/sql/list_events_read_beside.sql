-- The events of a stream whose facts a language model drew from a question that also held a certain event, and the later ones that rules read with it.
select distinct e.event_id::text
  from engram.llm_call_events shown
  join engram.llm_calls c
    on c.tenant_id = shown.tenant_id and c.call_id = shown.call_id and c.component = 'extract' and c.outcome = 'ok'
  join engram.llm_call_events n on n.tenant_id = shown.tenant_id and n.call_id = shown.call_id and not n.context
  join engram.agent_events e on e.tenant_id = n.tenant_id and e.event_id = n.event_id and e.stream_id = %(stream_id)s::uuid
 where shown.tenant_id = %(tenant_id)s and shown.event_id = %(event_id)s::uuid and n.event_id <> shown.event_id
union
select m.event_id::text
  from engram.memory_sources q
  join engram.agent_events a on a.tenant_id = q.tenant_id and a.event_id = q.event_id
  join engram.agent_memory m on m.tenant_id = q.tenant_id and m.memory_id = q.memory_id
  join engram.agent_events e   -- not what another message said in full, too
    on e.tenant_id = m.tenant_id and e.event_id = m.event_id and e.stream_id = %(stream_id)s::uuid and e.position BETWEEN a.position + 1 AND a.position + 2
 where q.tenant_id = %(tenant_id)s and q.event_id = %(event_id)s::uuid and q.ordinal >= 10000
