-- The answer that was paid for under this key, and the call that it came of.
select c.answer, c.call_id::text
  from engram.llm_calls c
 where c.tenant_id = engram.current_tenant() and c.call_key = %(call_key)s and c.answer is not null
