-- Note the events a call was given, so that an erasure finds what it answered.
insert into engram.llm_call_events (tenant_id, event_id, call_id, context)
select engram.current_tenant(), given.event_id, %(call_id)s::uuid, given.event_id = any (%(context_ids)s::uuid[])
  from unnest(%(event_ids)s::uuid[]) as given(event_id)
on conflict do nothing
