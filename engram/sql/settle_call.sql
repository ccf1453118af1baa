-- Write down what became of a call, and turn what it had reserved into what it cost; touches nothing the second time. An
-- answer is kept once a key, and not at all when an event it was given has been erased meanwhile.
with settled as (
  update engram.llm_calls c
     set outcome = %(outcome)s, problems = %(problems)s, cost = %(cost)s, estimated = %(estimated)s,
         input_tokens = %(input_tokens)s, output_tokens = %(output_tokens)s, cached_tokens = %(cached_tokens)s,
         seconds = %(seconds)s, finished_at = clock_timestamp(),
         answer = case when c.call_key is not null
                        and not exists (select from engram.llm_calls k
                                         where k.tenant_id = c.tenant_id and k.call_key = c.call_key
                                           and k.answer is not null)
                        and not exists (select from unnest(%(event_ids)s::uuid[]) as given(event_id)
                                          join engram.agent_events e
                                            on e.tenant_id = engram.current_tenant() and e.event_id = given.event_id
                                          left join engram.agent_event_payloads p
                                            on p.tenant_id = e.tenant_id and p.stream_id = e.stream_id
                                           and p.position = e.position
                                         where p.position is null)
                       then %(answer)s end
   where c.tenant_id = engram.current_tenant() and c.call_id = %(call_id)s::uuid and c.outcome = 'pending'
  returning c.tenant_id, c.day, c.reserved, c.cost)
update engram.llm_budgets b
   set reserved = b.reserved - settled.reserved, spent = b.spent + settled.cost
  from settled
 where b.tenant_id = settled.tenant_id and b.day = settled.day
