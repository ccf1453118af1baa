-- Note a call before it is made and set aside the most it can cost; no row when the day's budget does not hold as much.
with known as (
  select c.call_id from engram.llm_calls c where c.tenant_id = engram.current_tenant() and c.call_id = %(call_id)s::uuid),
today as (
  select (clock_timestamp() at time zone 'UTC')::date as day),
granted as (
  insert into engram.llm_budgets as b (tenant_id, day, reserved)
  select engram.current_tenant(), today.day, %(most)s::numeric
    from today
   where not exists (select from known) and (%(cap)s::numeric is null or %(most)s::numeric <= %(cap)s::numeric)
  on conflict (tenant_id, day) do update set reserved = b.reserved + excluded.reserved
   where %(cap)s::numeric is null or b.spent + b.reserved + excluded.reserved <= %(cap)s::numeric
  returning b.day),
noted as (
  insert into engram.llm_calls (tenant_id, call_id, scope_id, job_id, component, model, prompt, prompt_version, prompt_hash,
                                call_key, day, reserved)
  select engram.current_tenant(), %(call_id)s::uuid, %(scope_id)s, %(job_id)s::uuid, %(component)s, %(model)s, %(prompt)s,
         %(prompt_version)s, %(prompt_hash)s, %(call_key)s, granted.day, %(most)s::numeric
    from granted
  returning call_id)
select call_id from known
union all
select call_id from noted
