-- Forget the answers of calls that were given an event, and the keys by which its text could be guessed.
update engram.llm_calls c
   set answer = null, call_key = null
  from engram.llm_call_events e
 where e.tenant_id = engram.current_tenant() and e.event_id = %(event_id)s::uuid
   and c.tenant_id = e.tenant_id and c.call_id = e.call_id
