-- What calls of language models took since a moment, by component, model or day.
select case %(group_by)s when 'component' then c.component when 'model' then c.model else c.day::text end as "group",
       count(*) as calls, count(*) filter (where c.outcome = 'ok') as answered,
       coalesce(sum(c.input_tokens), 0)::bigint as input_tokens,
       coalesce(sum(c.output_tokens), 0)::bigint as output_tokens,
       coalesce(sum(c.cached_tokens), 0)::bigint as cached_tokens,
       coalesce(sum(coalesce(c.cost, case when c.started_at < clock_timestamp() - interval '10 minutes'
                                          then c.reserved end)), 0) as cost,
       count(*) filter (where c.estimated or c.cost is null) as estimated, coalesce(sum(c.seconds), 0) as seconds
  from engram.llm_calls c
 where c.tenant_id = engram.current_tenant() and (c.scope_id = any (%(scope_ids)s) or (%(everybody)s and c.scope_id is null))
   and (%(since)s::timestamptz is null or c.started_at >= %(since)s)
 group by 1
 order by 1
