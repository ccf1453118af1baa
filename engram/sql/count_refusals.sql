-- How often in a week a provider refused one question, or one job's, as unfit, and whether the model answered others since.
with refused as (
  select count(*) as times, min(c.started_at) as first
    from engram.llm_calls c
   where c.tenant_id = engram.current_tenant() and c.started_at > clock_timestamp() - interval '7 days'
     and c.model = %(model)s and c.component = %(component)s and c.outcome = 'model_rejected' and 'unfit' = any (c.problems)
     and (c.call_key = %(call_key)s or c.job_id = %(job_id)s::uuid))
select r.times, exists (select from engram.llm_calls o
                         where o.tenant_id = engram.current_tenant() and o.started_at > r.first and o.model = %(model)s
                           and o.outcome = 'ok') as others
  from refused r
